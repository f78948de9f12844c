/** Frames: what the bodies of many mails share. Pure functions. */
import type { FramedBodies, MailFrame } from './types.ts';

/** The bodies as they read with a mail's values. */
export function fillFrame({ frame, values }: FramedBodies): { html: string | null; text: string | null } {
  const fill = (parts: MailFrame['html'], encode: (value: string) => string): string | null =>
    parts?.map((part) => (typeof part === 'string' ? part : encode(values[part] ?? ''))).join('') ?? null;
  return { html: fill(frame.html, Bun.escapeHTML), text: fill(frame.text, (value) => value) };
}
