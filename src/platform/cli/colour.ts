/**
 * Colour in what is printed for people. Noncharacters of Unicode mark it, and values lose these, so that no
 * value can colour a terminal. What shows a table makes colours of the marks, or leaves them out.
 */

const MARKS = { heading: '\ufdd0', good: '\ufdd1', doubtful: '\ufdd2', bad: '\ufdd3' } as const;
const END = '\ufdd4';
type Tone = keyof typeof MARKS;

/** ECMA-48: bold, green, yellow, red; and back. */
const SEQUENCES: Readonly<Record<string, string>> = {
  [MARKS.heading]: '\x1b[1m',
  [MARKS.good]: '\x1b[32m',
  [MARKS.doubtful]: '\x1b[33m',
  [MARKS.bad]: '\x1b[31m',
  [END]: '\x1b[0m',
};

export function tone(name: Tone, text: string): string {
  return `${MARKS[name]}${text}${END}`;
}

/** The text with its colours. */
export function coloured(text: string): string {
  return text.replace(/[\ufdd0-\ufdd4]/g, (mark) => SEQUENCES[mark] ?? '');
}

/** The text without its colours. */
export function uncoloured(text: string): string {
  return text.replace(/[\ufdd0-\ufdd4]/g, '');
}

/** A value that is to be laid out: what marks colours is shown as its escape. */
export function withoutMarks(value: string): string {
  return value.replace(/[\ufdd0-\ufdd4]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`);
}

/** The colours of states. */
const STATES: Readonly<Record<string, Tone>> = {
  active: 'good',
  sent: 'good',
  delivered: 'good',
  completed: 'good',
  paused: 'doubtful',
  resting: 'doubtful',
  suppressed: 'doubtful',
  failed: 'bad',
  bounced: 'bad',
  complained: 'bad',
};

/** A cell of a column that tells a state, by its first word: `resting until ...`. */
export function colourState(cell: string): string {
  const name = STATES[/^[a-z]+/.exec(cell)?.[0] ?? ''];
  return name === undefined ? cell : tone(name, cell);
}
