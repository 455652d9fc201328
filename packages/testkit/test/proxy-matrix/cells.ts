/** The values of each side of the matrix. */
export const clients = ['SDK 1.32, legacy', 'SDK 2.4, modern'] as const
export const servers = ['SDK 1.32, legacy', 'SDK 2.4, modern'] as const
export const carriers = ['stdio', 'HTTP', 'unix socket'] as const

export type ClientKind = (typeof clients)[number]
export type ServerKind = (typeof servers)[number]
export type Carrier = (typeof carriers)[number]

/** A client on one carrier, the proxy, and a server on another. */
export interface Cell {
  readonly client: ClientKind
  readonly front: Carrier
  readonly back: Carrier
  readonly server: ServerKind
}

/** All of them, in the order of the table. */
export const allCells: readonly Cell[] = clients.flatMap((client) =>
  servers.flatMap((server) => carriers.flatMap((front) => carriers.map((back) => ({ client, front, back, server })))),
)

/**
 * Nine of them, in which each value of one side meets each value of every other side at least once. The places of the carriers
 * decide: their sum says which client, and which server.
 */
export const sampledCells: readonly Cell[] = allCells.filter(({ client, front, back, server }) => {
  const sum = carriers.indexOf(front) + carriers.indexOf(back)
  return clients.indexOf(client) === sum % 2 && servers.indexOf(server) === Number(sum % 3 > 0)
})

export function nameOf({ client, front, back, server }: Cell): string {
  return `client ${client}, front ${front}, back ${back}, server ${server}`
}
