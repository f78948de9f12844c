/** The mail that asks whoever signed up: what its template may use, and the layout that it wears. */
import { oneLine } from '../../platform/mail/address.ts';
import type { Language } from '../../platform/words/words.ts';
import type { Settings } from '../settings/service.ts';
import { brandOf } from './brand.ts';

/** What its template may use, and what it must hold. */
export const CONFIRMATION_VALUES = {
  must_hold: 'confirm_url',
  known: ['email', 'first_name', 'last_name', 'list_name', 'brand_name'],
} as const;

interface Bodies {
  body_html: string | null;
  body_text: string | null;
}

/** The project whose layout it is, and what stands in its footer. */
export interface LayoutOf {
  owner: { name: string };
  settings: Settings;
  language: Language | null;
  /** Null where its footer has none. */
  postal_address: string | null;
  unsubscribe_url: string | null;
  /** Of a mail that has a link to itself in a browser. */
  view_url?: string | null;
}

/** Puts bodies into the layout that newsletters have. */
export type LayOut = (bodies: Bodies, of: LayoutOf) => Bodies;

/** The person whom it asks, the list, and the project in whose name. */
export interface Confirmation {
  contact: { email: string; first_name: string | null; last_name: string | null };
  list: { name: string; language: Language | null };
  owner: { name: string };
  settings: Settings;
  confirm_url: string;
}

export function confirmationValues({ contact, list, owner, settings, confirm_url }: Confirmation) {
  return {
    confirm_url,
    email: contact.email,
    first_name: oneLine(contact.first_name ?? '') || 'there',
    last_name: oneLine(contact.last_name ?? ''),
    list_name: list.name,
    brand_name: brandOf(settings, owner.name).name,
  } satisfies Record<(typeof CONFIRMATION_VALUES)['known'][number] | 'confirm_url', string>;
}

/**
 * The project's layout, in the list's language, without a link to unsubscribe: they are on no list yet. Null for HTML that is a whole
 * document: it has looks of its own, and keeps them.
 */
export function dressOf(
  mail: Bodies,
  { list: { language }, owner, settings }: Pick<Confirmation, 'list' | 'owner' | 'settings'>,
): LayoutOf | null {
  if (/<(?:html|body)\b/i.test(mail.body_html ?? '')) return null;
  return { owner, settings, language, postal_address: settings.postal_address, unsubscribe_url: null };
}
