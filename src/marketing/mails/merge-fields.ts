/** Merge fields: which value each has, and putting values into the parts of a mail. Pure functions. */
import type { Field, Link, Part } from './source.ts';

/** What merge fields can say of the contact that a mail is for. */
export interface MergeContact {
  first_name: string | null;
  last_name: string | null;
  custom: Readonly<Record<string, string | number | boolean>>;
  /** Null where there is none. */
  contact_token: string | null;
}

/** Fields that the mail's own row has the value of, so that it is stored nowhere else. */
export const OF_THE_ROW = ['email', 'unsubscribe_url', 'preferences_url', 'view_url'] as const;

/** Links of a mail that lead to a page of ours. */
export type OwnLinks = Readonly<Record<'unsubscribe_url' | 'preferences_url' | 'view_url', string>>;

/** Where the reader of a mail leaves, or chooses what they get, which is one page; and where they read it in a browser. */
export function ownLinks(unsubscribe_url: string, view_url: string): OwnLinks {
  return { unsubscribe_url, preferences_url: unsubscribe_url && `${unsubscribe_url}#choices`, view_url };
}

/** True where a link leads to one of these pages, which is followed by no redirect. */
export function isOwnLink(target: Link['target']): boolean {
  return target.some(
    (part) => typeof part !== 'string' && /^(unsubscribe|preferences|view)_url$/.test(part[0]),
  );
}

/** Where in an address a value stands: there it is percent-encoded. */
export type Place = 'path' | 'query' | 'mailbox';

/** A value as it stands in an address: in a path its slashes stay, in a mail address its @. */
export function encodeFor(place: Place, value: string): string {
  const encoded = encodeURIComponent(value.toWellFormed());
  if (place === 'path') return encoded.replaceAll('%2F', '/');
  return place === 'mailbox' ? encoded.replaceAll('%40', '@') : encoded;
}

/** What a value must be with which an address begins. */
export const LEADS_SOMEWHERE = /^\s*(?:https?:\/\/|mailto:)/i;

const NOBODY = 'there';

export function firstNameOfNobody(default_first_name: string): string {
  return filled(default_first_name) ?? NOBODY;
}

/** The value of a merge field that differs from mail to mail; undefined where it has none. */
export function fieldValue(
  name: string,
  contact: MergeContact,
  default_first_name: string,
): string | undefined {
  if (name === 'first_name') return filled(contact.first_name) ?? firstNameOfNobody(default_first_name);
  if (name === 'last_name') return filled(contact.last_name);
  if (name === 'contact_token') return contact.contact_token ?? undefined;
  const [, key] = /^custom\.(.+)$/s.exec(name) ?? [];
  if (key === undefined || !Object.hasOwn(contact.custom, key)) return undefined;
  return filled(String(contact.custom[key]));
}

function filled(value: string | null): string | undefined {
  return value === null || value.trim() === '' ? undefined : value;
}

export type Values = Readonly<Record<string, string>>;

/** The parts as one text, where links have nothing to show; `encode` is for values. */
export function fillParts(
  parts: readonly Part[],
  values: Values,
  encode: (value: string) => string = String,
): string {
  return parts
    .map((part) => {
      if (typeof part === 'number') return '';
      return typeof part === 'string' ? part : encode(shownOf(part, values));
    })
    .join('');
}

/** Where a link leads for one mail; null where that is no web address. */
export function targetOf(target: Link['target'], values: Values): URL | null {
  const url = URL.parse(fillParts(target, values));
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : null;
}

/** The value of a merge field, as it stands where the field does. */
export function shownOf([name, place]: Field, values: Values): string {
  const value = (Object.hasOwn(values, name) ? values[name] : undefined) ?? '';
  return place === undefined ? value : encodeFor(place, value);
}
