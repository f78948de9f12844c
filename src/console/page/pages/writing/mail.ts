/** A mail that is being written, as the endpoints take it that show it and send it as a test. */
import type { DraftPreviewRequest } from '../../api.generated.ts';
import { fieldsOf, type Words } from './words.ts';

/** The facts of a mail besides its words. */
export interface MailKind {
  project: string;
  /** Null: of no list. */
  list: string | null;
  is_marketing: boolean;
  layout: 'marketing' | null;
  /** Of placeholders, the same for everybody. */
  values: Readonly<Record<string, unknown>>;
}

/** The person whose values it is shown with. */
export interface Reader {
  /** An id; null for a sample. */
  contact: string | null;
  samples: Readonly<Record<string, unknown>>;
}

export function requestOf(words: Words, kind: MailKind, reader: Reader): DraftPreviewRequest {
  const { variables: declared, ...fields } = fieldsOf(words);
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== '');
  const { is_marketing, layout, values } = kind;
  return {
    ...Object.fromEntries(given),
    declared,
    is_marketing,
    variables: { ...(is_marketing ? {} : samplesOf(reader)), ...values },
    ...(layout !== null && { layout }),
    ...(is_marketing && words.preheader.trim() !== '' && { preheader: words.preheader.trim() }),
    ...(reader.contact === null ? { sample: true } : { contact: reader.contact }),
  };
}

/** Samples, but of the values that a contact has itself. */
function samplesOf({ contact, samples }: Reader): Readonly<Record<string, unknown>> {
  const all = Object.entries({ ...SAMPLES, ...samples });
  return Object.fromEntries(contact === null ? all : all.filter(([name]) => !OF_CONTACTS.includes(name)));
}

const OF_CONTACTS: readonly string[] = ['email', 'first_name', 'last_name', 'custom'];
const SAMPLES = { first_name: 'Ann', last_name: 'Example', name: 'Ann Example', email: 'ann@example.org' };

export function isEmpty({ body_markdown, body_html, body_text }: Words): boolean {
  return ![body_markdown, body_html, body_text].some((body) => body?.trim());
}
