/** Rewriting the HTML of a mail, in time that grows with its length alone. Pure functions. */
import { invalid } from '../../errors.ts';

/** Elements that hold nothing, and so are never closed. */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
const TAG = /<(\/?)([a-z][^\s/>]*)/gi;
/** How often a closing tag may be looked for among open ones that it does not close: some 20 ms. */
const MAX_VAIN_LOOKS = 10_000_000;
const TANGLED = 'has too many tags that close what was never opened, among others that are never closed';

/**
 * What a rewriter makes of HTML. For each closing tag it looks through the open elements until it finds its
 * own: nobody can end it meanwhile, so what would take long is refused. Throws AppError `invalid`.
 */
export function rewriteHtml(html: string, rewriter: HTMLRewriter): string {
  if (isTangled(html)) throw invalid({ body_html: [TANGLED] });
  return rewriter.transform(html);
}

function isTangled(html: string): boolean {
  const open: string[] = [];
  const open_by_name = new Map<string, number>();
  const count = (name: string, by: number): void => {
    open_by_name.set(name, (open_by_name.get(name) ?? 0) + by);
  };
  let vain = 0;
  for (const [, closes, tag = ''] of html.matchAll(TAG)) {
    const name = tag.toLowerCase();
    if (VOID.has(name)) continue;
    if (!closes) {
      open.push(name);
      count(name, 1);
    } else if (!open_by_name.get(name)) {
      vain += open.length;
      if (vain > MAX_VAIN_LOOKS) return true;
    } else
      for (let last = open.pop(); last !== undefined; last = open.pop()) {
        count(last, -1);
        if (last === name) break;
      }
  }
  return false;
}
