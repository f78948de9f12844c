/** What subscriptions hold as JSON, and shapes of the pages and mails that settings make as they are typed. */
import { named, nullable, oneOf, t } from '../../platform/http/schema.ts';
import { WORDS } from '../../platform/words/words.ts';
import { listChanges } from '../lists/service.ts';
import { settingsChanges } from '../settings/service.ts';

/** The sign-up of somebody who had left: the evidence on which a click brings them back. */
export interface ComingBack {
  at: number;
  ip: string | null;
  origin: string | null;
  first_name: string | null;
  last_name: string | null;
}

const PAGES = [
  'join',
  'thanks',
  'confirm',
  'confirmed',
  'unsubscribe',
  'unsubscribed',
  'taken_back',
  'choices_saved',
] as const;
type Language = keyof typeof WORDS;
const language = oneOf(Object.keys(WORDS) as [Language, ...Language[]]);

const { from_name, postal_address, brand_name, brand_color, brand_logo_url, brand_website_url, tracking } =
  settingsChanges.properties;
const {
  name,
  language: list_language,
  confirmation_template,
  signed_up_url,
  confirmed_url,
  is_public,
} = listChanges.properties;

export const pages_draft = named(
  'PagesPreviewRequest',
  t.Object({
    settings: t.Optional(
      t.Object(
        { from_name, postal_address, brand_name, brand_color, brand_logo_url, brand_website_url, tracking },
        { description: 'As they are typed, in place of what is saved.' },
      ),
    ),
    list: t.Optional(t.String({ description: 'The id of the list whose pages they are.' })),
    list_changes: t.Optional(
      t.Object(
        { name, language: list_language, confirmation_template, signed_up_url, confirmed_url, is_public },
        { description: 'Of the list, or of one that is being made.' },
      ),
    ),
    language: t.Optional({
      ...language,
      description: "Of the reader's browser, which counts where the list says none. Default en.",
    }),
  }),
);

const bodies = { body_html: nullable(t.String()), body_text: nullable(t.String()) };

export const pages_preview = named(
  'PagesPreview',
  t.Object({
    language,
    pages: t.Array(
      t.Object({
        page: oneOf(PAGES),
        title: t.String(),
        html: nullable(t.String({ description: 'Null where people are led elsewhere.' })),
        leads_to: nullable(t.String({ description: 'The page of your own in its place.' })),
      }),
    ),
    has_captcha: t.Boolean({
      description: 'Whether a captcha stands in the form to sign up, which is not shown.',
    }),
    newsletter: t.Object(bodies, { description: 'A sample in the layout of templates.' }),
    confirmation: nullable(t.Object({ subject: t.String(), ...bodies })),
    confirmation_problem: nullable(
      t.String({
        description: 'Why there is no mail that asks to confirm: what `confirmation_template` is or does.',
      }),
    ),
  }),
);
