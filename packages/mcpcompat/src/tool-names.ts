/**
 * Whether a tool name follows the recommendation: 1 to 128 characters of `A-Z a-z 0-9 _ - .` (MC-TOOL-09). Other names are
 * usable and are sent encoded in `Mcp-Name` where needed.
 */
export function isConformingToolName(name: string): boolean {
  return /^[A-Za-z0-9_.-]{1,128}$/.test(name)
}
