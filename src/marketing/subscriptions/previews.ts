/** The public pages and the mails of a project as strangers see them, by settings as they are typed. Stores nothing. */
import { type FieldErrors, notFound, refuseAll } from '../../errors.ts';
import type { Templates } from '../../mail/templates/service.ts';
import { pageText } from '../../platform/http/pages.ts';
import type { Static } from '../../platform/http/schema.ts';
import { DEFAULT_LANGUAGE, type Reader, WORDS } from '../../platform/words/words.ts';
import type { ListRow, Lists } from '../lists/service.ts';
import type { MarketingSettings, Settings } from '../settings/service.ts';
import { brandOf, lookOf } from './brand.ts';
import type { Choices } from './choices.ts';
import { CONFIRMATION_VALUES, confirmationValues, dressOf, type LayoutOf } from './confirmation-mail.ts';
import { confirmUrl, testUnsubscribeUrl, testViewUrl } from './links.ts';
import {
  confirmedPage,
  confirmPage,
  type Page,
  savedPage,
  takenBackPage,
  thanksPage,
  unsubscribedPage,
  unsubscribePage,
} from './pages.ts';
import type { pages_draft, pages_preview } from './schemas.ts';
import type { SubscriptionsDeps } from './service.ts';
import { formPage } from './sign-up-form.ts';

type Draft = Static<typeof pages_draft>;
type PagesPreview = Static<typeof pages_preview>;
type PreviewedPage = PagesPreview['pages'][number];

/** What of a list its pages and its mail show. */
type ListLooks = Pick<
  ListRow,
  'name' | 'language' | 'signed_up_url' | 'confirmed_url' | 'confirmation_template'
>;

const SAMPLE = { email: 'ann@example.com', first_name: 'Ann', last_name: 'Miller' };
const NO_LIST: ListLooks = {
  name: 'Newsletter',
  language: null,
  signed_up_url: null,
  confirmed_url: null,
  confirmation_template: null,
};
const NEWS = {
  body_html:
    '<h1>Hello Ann</h1><p>Here stands what you write. Around it is what your settings make of every newsletter: name, colour and logo above, your address and the way out below.</p>',
  body_text: 'Hello Ann,\n\nHere stands what you write.',
};

export interface PagePreviewsDeps extends Pick<SubscriptionsDeps, 'captcha' | 'link_domains' | 'projectOf'> {
  /** As new mails are laid out, beside the server: it may take long. */
  layOut(project_id: number, bodies: Bodies, of: LayoutOf): Promise<Bodies>;
  marketing: Pick<MarketingSettings, 'settingsAfter'>;
  lists: Pick<Lists, 'require' | 'errorsIn' | 'listPublic'>;
  templates: Pick<Templates, 'refusalOf' | 'renderForSend'>;
}

export class PagePreviews {
  constructor(private readonly deps: PagePreviewsDeps) {}

  /**
   * The pages and mails of a project, or of one of its lists, as they would be with these settings. Throws AppError `invalid` by field,
   * below `settings` and `list_changes`, and `not_found` for a list of no list of the project.
   */
  async preview(project: { id: number }, sent: Draft): Promise<PagesPreview> {
    const { captcha, lists, marketing, projectOf, layOut, link_domains } = this.deps;
    const owner = projectOf(project.id);
    if (!owner) throw notFound('Project');
    const errors: FieldErrors = {};
    const after = marketing.settingsAfter(owner.id, sent.settings ?? {});
    addBelow('settings', after.errors, errors);
    const row = sent.list === undefined ? null : lists.require(owner.id, sent.list);
    const current = row && { ...row, from: row.from_address };
    const changes = sent.list_changes ?? {};
    addBelow('list_changes', lists.errorsIn(owner.id, current, changes), errors);
    refuseAll(errors);
    const settings = after.merged;
    const list: ListLooks = {
      ...NO_LIST,
      ...row,
      ...changes,
      name: changes.name ?? row?.name ?? NO_LIST.name,
    };
    const language = list.language ?? sent.language ?? DEFAULT_LANGUAGE;
    const reader: Reader = { language, words: WORDS[language], is_by_request: false };
    const of = { owner, settings, list, reader };
    const news = await layOut(owner.id, NEWS, {
      ...of,
      language: row ? list.language : language,
      postal_address: settings.postal_address ?? '{{ postal_address }}',
      unsubscribe_url: testUnsubscribeUrl(link_domains.baseOf(owner.id)),
      view_url: settings.view_link ? testViewUrl(link_domains.baseOf(owner.id)) : null,
    });
    return {
      language,
      pages: this.#pages(of, this.#choices(owner.id, { row, list, settings, is_public: changes.is_public })),
      has_captcha: captcha.isConfigured(owner),
      newsletter: news,
      ...(await this.#confirmation(of)),
    };
  }

  #pages(of: Shown, choices: Choices): PreviewedPage[] {
    const { owner, settings, list, reader } = of;
    const brand = brandOf(settings, owner.name);
    const names = { email: SAMPLE.email, brand: brand.name };
    const { words } = reader;
    const shown = (
      page: PreviewedPage['page'],
      made: Page,
      leads_to: string | null = null,
    ): PreviewedPage => ({
      page,
      title: made.title,
      html: leads_to === null ? pageText(made.title, made.content, { look: lookOf(brand), reader }) : null,
      leads_to,
    });
    const asks_for_tracking = settings.tracking === 'consented';
    return [
      shown('join', formPage({ list, brand, widget: null, asks_for_tracking }, reader)),
      shown('thanks', thanksPage(words), list.signed_up_url),
      shown('confirm', confirmPage(words, names)),
      shown('confirmed', confirmedPage(words, names), list.confirmed_url),
      shown('unsubscribe', unsubscribePage(reader, names, choices)),
      shown('unsubscribed', unsubscribedPage(words, names, '')),
      shown('taken_back', takenBackPage(words, names, true)),
      shown('choices_saved', savedPage(words, names, [])),
    ];
  }

  /** Of public lists, with the one that is looked at as it is typed. */
  #choices(
    project_id: number,
    of: { row: ListRow | null; list: ListLooks; settings: Settings; is_public: boolean | null | undefined },
  ): Choices {
    const { row, list, settings } = of;
    const is_public = of.is_public ?? row?.is_public ?? false;
    const others = this.deps.lists.listPublic(project_id).filter(({ id }) => id !== row?.id);
    const shown = row && is_public ? [...others, { ...row, name: list.name }] : others;
    return {
      lists: shown.map((each) => ({ list: each, is_on: true, contact: null })),
      paused_until: null,
      is_tracked: settings.tracking === 'all',
    };
  }

  /** The mail that asks to confirm, or why there is none. */
  async #confirmation({
    owner,
    settings,
    list,
  }: Shown): Promise<Pick<PagesPreview, 'confirmation' | 'confirmation_problem'>> {
    const { templates, layOut, link_domains } = this.deps;
    const slug = list.confirmation_template;
    const problem = slug === null ? 'is not set' : templates.refusalOf(owner.id, slug, CONFIRMATION_VALUES);
    if (slug === null || problem !== null) return { confirmation: null, confirmation_problem: problem };
    const confirm_url = confirmUrl(link_domains.baseOf(owner.id), 'preview');
    const of = { contact: SAMPLE, list, owner, settings, confirm_url };
    const mail = templates.renderForSend(owner.id, slug, confirmationValues(of));
    const dress = dressOf(mail, of);
    const { subject, body_html, body_text } = mail;
    const bodies = { body_html, body_text };
    const dressed = dress ? await layOut(owner.id, bodies, dress) : bodies;
    return { confirmation: { subject, ...dressed }, confirmation_problem: null };
  }
}

interface Bodies {
  body_html: string | null;
  body_text: string | null;
}

interface Shown {
  owner: { id: number; name: string };
  settings: Settings;
  list: ListLooks;
  reader: Reader;
}

function addBelow(at: string, found: FieldErrors, errors: FieldErrors): void {
  for (const [field, messages] of Object.entries(found)) errors[`${at}.${field}`] = messages;
}
