/** Whether a text can be a legacy `Mcp-Session-Id`: one or more visible ASCII characters (LG-SESS-02). */
export function isSessionId(value: string): boolean {
  return /^[\x21-\x7E]+$/.test(value)
}
