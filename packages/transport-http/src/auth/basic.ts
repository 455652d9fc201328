/**
 * The value of `Authorization` by which a client shows who it is at an authorization server: both parts written as forms are (RFC 6749, section
 * 2.3.1), which leaves letters, digits and `-_.*` alone, so that servers that forget to decode see them too.
 */
export function basicAuthorization(id: string, secret: string): string {
  return `Basic ${btoa(`${formEncoded(id)}:${formEncoded(secret)}`)}`
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}
