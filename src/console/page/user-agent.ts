/** A browser and its system in two words, of what the browser says of itself: enough to tell one's own apart. */

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
  ['curl/', 'curl'],
] as const;
const SYSTEMS = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const;

export function tellBrowser(user_agent: string | null): string {
  const has = ([mark]: readonly [string, string]): boolean => user_agent?.includes(mark) ?? false;
  const browser = BROWSERS.find(has)?.[1] ?? 'Unknown browser';
  const system = SYSTEMS.find(has)?.[1];
  return system ? `${browser} on ${system}` : browser;
}
