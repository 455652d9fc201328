import { type AbortOptions, unlessAborted } from './abort.ts'

export interface CreateSingleFlightOptions<T, R> {
  /** What each of those who wait gets of the outcome. Called for each at once, before `release`. */
  readonly take: (value: T) => R
  /** Told once, when all who waited have theirs or have gone. */
  readonly release?: ((value: T) => void) | undefined
}

/**
 * Joins the attempt that is under way for a key, or starts one. An attempt is stopped when all who wait for it have gone;
 * one who goes leaves with the reason of the own signal.
 */
export type SingleFlight<T, R> = (
  key: string,
  start: (signal: AbortSignal) => Promise<T>,
  options?: AbortOptions,
) => Promise<R>

interface Flight<T> {
  readonly outcome: Promise<T>
  readonly stop: AbortController
  waiting: number
}

/** Lets those who want the same thing at the same time share one attempt. Outcomes are not kept. */
export function createSingleFlight<T, R>({ take, release }: CreateSingleFlightOptions<T, R>): SingleFlight<T, R> {
  const flights = new Map<string, Flight<T>>()

  function launch(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const stop = new AbortController()
    const forget = (): void => {
      if (flights.get(key) === flight) flights.delete(key)
    }
    // Whoever comes when the outcome is there must not get an old one.
    const flight: Flight<T> = { outcome: start(stop.signal).finally(forget), stop, waiting: 0 }
    flights.set(key, flight)
    return flight
  }

  return async (key, start, { signal } = {}) => {
    signal?.throwIfAborted()
    const flight = flights.get(key) ?? launch(key, start)
    flight.waiting++
    try {
      return take(await (signal === undefined ? flight.outcome : unlessAborted(flight.outcome, signal)))
    } finally {
      flight.waiting--
      if (flight.waiting === 0) {
        if (flights.get(key) === flight) flights.delete(key)
        flight.stop.abort()
        flight.outcome.then(release, () => undefined)
      }
    }
  }
}
