/** What an alert says, to people and to each kind of receiver. */
import { toIso } from '../../platform/host/clock.ts';
import { counted } from '../../platform/words/phrases.ts';
import type { Told } from './known.ts';
import type { AlertFormat } from './tables.ts';

export interface Message {
  title: string;
  text: string;
  told: readonly Told[];
  /** Nothing is wrong: all that it tells of is mended. */
  is_good: boolean;
  /** The console's. */
  url: string;
}

/** Of the findings and of the message of each: people read the rest at the console. */
const MAX_FINDINGS = 20;
const MAX_MESSAGE_CHARS = 500;
/** What Discord takes. */
const MAX_DISCORD_CHARS = 2_000;
/** Longer ones become a file: ntfy takes 4,096 as a message. */
const MAX_NTFY_BYTES = 4_000;

const STATES = { new: 'PROBLEM', still: 'STILL A PROBLEM', mended: 'MENDED' } as const;

export function messageOf(told: readonly Told[], public_url: string): Message {
  const mended = told.filter(({ state }) => state === 'mended').length;
  const problems = told.length - mended;
  const counts = [
    ...(problems > 0 ? [counted(problems, 'problem')] : []),
    ...(mended > 0 ? [`${mended} mended`] : []),
  ];
  const url = `${public_url}/console/findings`;
  const lines = told.slice(0, MAX_FINDINGS).map(linesOf);
  const more = told.length > MAX_FINDINGS ? [`And ${told.length - MAX_FINDINGS} more.`] : [];
  return {
    title: titleOf(public_url, counts.join(', ')),
    text: [...lines, ...more, url].join('\n\n'),
    told,
    is_good: problems === 0,
    url,
  };
}

export function testMessage(public_url: string): Message {
  const url = `${public_url}/console/findings`;
  const text = `This is a test: alerts of this Satchel arrive here. Nothing is wrong.\n\n${url}`;
  return { title: titleOf(public_url, 'a test'), text, told: [], is_good: true, url };
}

function titleOf(public_url: string, what: string): string {
  return `Satchel at ${new URL(public_url).host}: ${what}`;
}

function linesOf({ state, known }: Told): string {
  const { check, message, remedy, since } = known;
  const line = `${STATES[state]} (${check}): ${cut(message, MAX_MESSAGE_CHARS)}`;
  if (state === 'new') return remedy === null ? line : `${line}\n-> ${remedy}`;
  const lasted = `${state === 'still' ? 'Since' : 'It was so since'} ${toIso(since)}.`;
  return state === 'still' && remedy !== null ? `${line}\n${lasted}\n-> ${remedy}` : `${line}\n${lasted}`;
}

/** To `max` UTF-16 units, without half a character. */
function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The body of a POST to a receiver, and what its headers say of it. */
export function bodyOf(
  format: AlertFormat,
  { title, text, told, is_good, url }: Message,
): { headers: Record<string, string>; body: string } {
  const json = (value: object) => ({
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(value),
  });
  const whole = `${title}\n\n${text}`;
  switch (format) {
    case 'json':
      return json({ text: whole, findings: told.map(findingOf), url });
    case 'slack':
      return json({
        text: whole.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
      });
    case 'discord':
      return json({ content: cut(whole, MAX_DISCORD_CHARS), allowed_mentions: { parse: [] } });
    case 'ntfy': {
      const priority = is_good ? 'default' : 'high';
      const bytes = Buffer.from(text).subarray(0, MAX_NTFY_BYTES);
      return {
        headers: { 'Content-Type': 'text/plain; charset=utf-8', Title: title, Priority: priority },
        // Half a character at the end is left out.
        body: new TextDecoder().decode(bytes, { stream: true }),
      };
    }
    case 'gotify':
      return json({ title, message: text, priority: is_good ? 2 : 8 });
  }
}

function findingOf({ id, state, known: { check, message, remedy, since } }: Told) {
  const is_mended = state === 'mended';
  const status = is_mended ? 'ok' : 'problem';
  return { id, check, status, message, remedy: is_mended ? null : remedy, state, since: toIso(since) };
}
