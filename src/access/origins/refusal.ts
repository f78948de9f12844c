/** What the bearer of a key is told where its origins refuse a request. */
import type { RequestOrigin } from './matcher.ts';

/** As much of what was sent as an answer repeats, in characters. */
const MAX_NAMED_CHARS = 200;
/** Safe in JSON, HTML and a shell's double quotes. All else is written as in a URL. */
const HARMLESS = /[^\w:/.@[\]*~,+-]/g;

/** The matcher's message, with the request's origin and who can see more. No rule is named here. */
export function describeRefusal(message: string, { origin, app_id, android_package }: RequestOrigin): string {
  const sent = origin ?? app_id ?? android_package;
  const from = sent === null ? '' : ` It came from ${name(sent)}.`;
  return `${message}${from} Who manages the key sees why with:`;
}

function name(sent: string): string {
  const cut = sent.slice(0, MAX_NAMED_CHARS).replace(HARMLESS, percent);
  return `"${cut}${sent.length > MAX_NAMED_CHARS ? '...' : ''}"`;
}

function percent(char: string): string {
  return [...Buffer.from(char)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}
