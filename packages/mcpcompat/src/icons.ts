import { isJsonObject, type JsonValue } from './jsonrpc/json.ts'

const themes: readonly (JsonValue | undefined)[] = ['light', 'dark']

/**
 * Why a value is no icon that may be shown, or `undefined` (MC-ICON-02, MC-ICON-04). Schemes other than `https:` and `data:` are
 * refused; whoever fetches an icon must refuse redirects to another scheme or origin as well.
 */
export function iconFault(value: JsonValue | undefined): string | undefined {
  if (!isJsonObject(value)) return 'is not an object'
  const { src, mimeType, sizes, theme } = value
  if (typeof src !== 'string') return 'has no src'
  if (!isShowable(src)) return 'has a src that is neither https: nor data:'
  if (mimeType !== undefined && typeof mimeType !== 'string') return 'has a mimeType that is not a string'
  if (sizes !== undefined && !(Array.isArray(sizes) && sizes.every((size) => typeof size === 'string'))) {
    return 'has sizes that are not strings'
  }
  return theme === undefined || themes.includes(theme) ? undefined : 'has a theme other than light and dark'
}

function isShowable(src: string): boolean {
  if (!URL.canParse(src)) return false
  const { protocol } = new URL(src)
  return protocol === 'https:' || protocol === 'data:'
}
