/** How names of files are compared where they are searched. They are kept and shown as they came. */

/**
 * The name whatever its case, in any script, and however its accents are composed: macOS takes letters and
 * accents apart. Two that a reader would call the same become one; an accent counts.
 */
export function soughtName(name: string): string {
  return (
    name
      .normalize('NFC')
      // Some letters have one case alone: `ß` is the small form of `SS`, and `ſ` a form of `s`.
      .toUpperCase()
      .toLowerCase()
      .normalize('NFC')
      // A sigma at the end of a word has a form of its own; a Turkish capital with a dot leaves that behind.
      .replace(/ς/g, 'σ')
      .replace(/i\u0307/g, 'i')
  );
}
