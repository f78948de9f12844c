/**
 * What somebody wrote in a reply, without the quoted mail. Mail programs mark that by `>`, by a line such as
 * `On Monday Ann wrote:`, or by the mail's header without marks; each in its reader's language.
 */

/**
 * Longer lines are no header and no line above a quotation: programs fold at some 76 characters, or write
 * just a name, an address and a time.
 */
const MAX_MARK_CHARS = 400;
/** A line above a quotation is folded into so many at most. */
const MAX_ATTRIBUTION_LINES = 3;

/** `From:` as mail programs have it above a mail that they quote. */
const FROM =
  /^[ \t*]*(?:From|Von|De|Da|Van|Från|Fra|Lähettäjä|Od|От|Від|Kimden|发件人|寄件者|差出人|보낸 사람)[ \t\u00a0*]*[:：]/iu;
/** Any other field of such a header: a word or two, a colon, and something behind it. */
const FIELD = /^[ \t*]*\p{L}[\p{L}'’ .\u00a0-]{0,30}\*?[ \t\u00a0]*[:：][ \t\u00a0*]*\S/u;
/** `-----Original Message-----`, and the rule above such a header. */
const RULE = /^[ \t]*(?:_{10,}|-{2,}[ \t]*[\p{L}][\p{L}'’ ]{2,40}-{2,})[ \t]*$/u;
/** Where programs quote without any mark: what they write in these languages, with an address or an hour. */
const WROTE =
  /^[ \t]*(?:On|Am|Le|El|Il|Em|No dia|Op|Den|W dniu) (?=.*(?:@|\d[:.h]\d\d)).*(?<!\p{L})(?:wrote|schrieb|écrit|escribió|scritto|escreveu|schreef|skrev|napisał|napisała)(?!\p{L}).*[:：]$/iu;

/** Takes one pass, whatever the text. */
export function withoutQuoted(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const end = lines.findIndex((_, at) => isHeaderAbove(lines, at));
  const own = withoutMarked(end === -1 ? lines : lines.slice(0, end));
  return own
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Whether the rest is a quoted mail with its header in front, as Outlook writes. */
function isHeaderAbove(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  if (line.length > MAX_MARK_CHARS) return false;
  if (RULE.test(line)) return lines.slice(at + 1, at + 4).some((_, next) => isHeader(lines, at + 1 + next));
  return isHeader(lines, at);
}

/** `From:` with two more fields below, and a date or an address among them. */
function isHeader(lines: readonly string[], at: number): boolean {
  const header = lines.slice(at, at + 4).map((line) => line.slice(0, MAX_MARK_CHARS));
  const [from = '', ...others] = header;
  if (!FROM.test(from)) return false;
  return others.filter((line) => FIELD.test(line)).length >= 2 && /@|\b\d{4}\b/.test(header.join(' '));
}

/** Without the lines that begin with `>`, and without what tells whose they are. */
function withoutMarked(lines: readonly string[]): string[] {
  const own: string[] = [];
  let was_quoted = false;
  for (const [at, line] of lines.entries()) {
    const is_quoted = /^[ \t]*>/.test(line);
    if (is_quoted && !was_quoted) dropAttribution(own);
    if (!is_quoted) own.push(line);
    // An empty line between quoted ones is no end of the quotation.
    if (is_quoted || line.trim() !== '') was_quoted = is_quoted;
    const folded = `${line} ${lines[at + 1] ?? ''}`.trimEnd();
    const is_unmarked = [line.trimEnd(), folded].some(
      (words) => words.length <= MAX_MARK_CHARS && WROTE.test(words),
    );
    if (is_unmarked && !lines.slice(at + 1, at + 5).some((next) => /^[ \t]*>/.test(next))) {
      own.pop();
      return own;
    }
  }
  return own;
}

/** Drops the last lines where they introduce a quotation: a colon ends them after an address or time. */
function dropAttribution(own: string[]): void {
  let end = own.length;
  while (end > 0 && own[end - 1]?.trim() === '') end -= 1;
  if (!/[:：][ \t]*$/.test(own[end - 1] ?? '')) return;
  let begin = end - 1;
  while (
    begin > 0 &&
    end - begin < MAX_ATTRIBUTION_LINES &&
    !isWhole(own.slice(begin, end)) &&
    own[begin - 1]?.trim()
  )
    begin -= 1;
  const words = own.slice(begin, end).join(' ');
  if (words.length <= MAX_MARK_CHARS && /\d|@/.test(words)) own.length = begin;
}

/** Whether lines are all of the words above a quotation, not their folded end: they have a day or an hour. */
function isWhole(lines: readonly string[]): boolean {
  return /\d{1,2}[:.h]\d{2}|\b\d{4}\b/.test(lines.join(' '));
}
