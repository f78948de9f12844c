/** What a reader would stumble over in a mail: links that lead nowhere, and no way to leave. Pure functions. */
import { isLoopback } from '../../platform/http/hosts.ts';
import { addressesOfHtml, addressesOfText } from './links.ts';
import type { OwnLinks } from './merge-fields.ts';

export const PREVIEW_PROBLEMS = ['missing_value', 'dead_link', 'no_unsubscribe'] as const;

export interface PreviewProblem {
  code: (typeof PREVIEW_PROBLEMS)[number];
  message: string;
}

interface Bodies {
  body_html: string | null;
  body_text: string | null;
}

/** Problems that one preview names: nobody mends more at once. */
export const MAX_PREVIEW_PROBLEMS = 50;
/** Of an address that a message names. */
const MAX_SHOWN_CHARS = 100;
/** What mail programs follow besides web addresses. */
const FOLLOWED = new Set(['http:', 'https:', 'mailto:', 'tel:', 'sms:']);
/** Of a placeholder without a value, which is a problem of its own. */
const UNFILLED = /\{\{|%7B%7B/i;

/** One for each address that leads nobody anywhere; `own` are links of ours. */
export function deadLinkProblems({ body_html, body_text }: Bodies, own: OwnLinks): PreviewProblem[] {
  const addresses = new Set([...addressesOfHtml(body_html ?? ''), ...addressesOfText(body_text ?? '')]);
  return [...addresses].flatMap((address): PreviewProblem[] => {
    if (Object.values(own).includes(address) || UNFILLED.test(address)) return [];
    const why = whyDead(address);
    return why === null ? [] : [{ code: 'dead_link', message: why }];
  });
}

/** One for each body that has no link by which its reader can leave. */
export function unsubscribeProblems(
  { body_html, body_text }: Bodies,
  { unsubscribe_url }: OwnLinks,
): PreviewProblem[] {
  const told = (part: string): PreviewProblem => ({
    code: 'no_unsubscribe',
    message: `The ${part} has no link to unsubscribe: use the marketing layout, or {{unsubscribe_url}}.`,
  });
  return [
    ...(body_html === null || addressesOfHtml(body_html).includes(unsubscribe_url) ? [] : [told('HTML')]),
    ...(body_text === null || addressesOfText(body_text).includes(unsubscribe_url) ? [] : [told('text')]),
  ];
}

function whyDead(address: string): string | null {
  const shown = `"${address.length > MAX_SHOWN_CHARS ? `${address.slice(0, MAX_SHOWN_CHARS)}…` : address}"`;
  if (address === '') return 'A link has no address.';
  if (address.startsWith('#')) return `The link ${shown} leads to no page: mail has no places to jump to.`;
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(address)?.[0].toLowerCase();
  if (scheme === undefined)
    return `The link ${shown} is relative, which leads nowhere in a mail: begin it with https://.`;
  if (!FOLLOWED.has(scheme))
    return `The link ${shown} is one that mail programs do not follow: use https://.`;
  if (!scheme.startsWith('http')) return null;
  const url = /^https?:\/\//i.test(address) ? URL.parse(address) : null;
  if (url === null) return `The link ${shown} is no web address.`;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isLoopback(host) || host === '0.0.0.0' || host === '::')
    return `The link ${shown} leads to the reader's own machine.`;
  return null;
}
