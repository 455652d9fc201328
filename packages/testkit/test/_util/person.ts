/**
 * Somebody with a browser, as far as pages of forms go: keeps cookies, follows redirects, and presses the button of each form. Fills in
 * what is given by name. Resolves with the last page.
 */
export async function browse(
  start: string,
  fill: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<{ readonly url: string; readonly status: number; readonly text: string }> {
  const jar = new Map<string, string>()
  let url = start
  let body: URLSearchParams | undefined
  for (let step = 0; step < 40; step++) {
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      redirect: 'manual',
      ...(body !== undefined && { body }),
      ...(signal !== undefined && { signal }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      const at = pair.indexOf('=')
      jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
    const text = await response.text()
    const location = response.headers.get('location')
    if (location !== null) {
      url = new URL(location, url).href
      body = undefined
      continue
    }
    const form = /<form([^>]*)>([\s\S]*?)<\/form>/.exec(text)
    if (form === null) return { url, status: response.status, text }
    const action = /action="([^"]*)"/.exec(form[1] ?? '')?.[1]
    url = action === undefined ? url : new URL(action.replaceAll('&amp;', '&'), url).href
    body = new URLSearchParams()
    for (const [input] of (form[2] ?? '').matchAll(/<input[^>]*>/g)) {
      const name = /name="([^"]*)"/.exec(input)?.[1]
      if (name !== undefined) body.set(name, fill[name] ?? /value="([^"]*)"/.exec(input)?.[1] ?? '')
    }
  }
  throw new Error('the pages go round in circles')
}
