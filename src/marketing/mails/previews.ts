/** A mail that is being written, as its reader would see it, and what is wrong with it. Stores nothing. */
import type { Projects } from '../../access/projects/service.ts';
import { invalid, notFound, refuseAll } from '../../errors.ts';
import type { Emails } from '../../mail/emails/service.ts';
import type { TemplateFields, Templates } from '../../mail/templates/service.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Beside } from '../../platform/host/beside.ts';
import type { Static } from '../../platform/http/schema.ts';
import type { Contacts } from '../contacts/service.ts';
import type { Lists } from '../lists/service.ts';
import type { MarketingSettings } from '../settings/service.ts';
import { type DraftToShow, type Preview, SHOW_DRAFT } from './drafts.ts';
import { readVariables } from './merging.ts';
import type { draft } from './schemas.ts';
import { type MailOwner, type MarketingMail, markAsTest } from './service.ts';

type Draft = Static<typeof draft>;
type ContactRow = NonNullable<ReturnType<Contacts['findById']>>;

export interface PreviewsDeps {
  database: Database;
  templates: Templates;
  marketing: Pick<MarketingSettings, 'settings'>;
  lists: Pick<Lists, 'findById'>;
  contacts: Pick<Contacts, 'findByPublicId'>;
  projectOf(id: number): MailOwner | null;
  marketing_mail: Pick<MarketingMail, 'toShow' | 'testLinks'>;
  beside: Pick<Beside, 'do'>;
  max_body_bytes: number;
  emails: Pick<Emails, 'accept'>;
  projects: Pick<Projects, 'requireActive'>;
}

export class Previews {
  constructor(private readonly deps: PreviewsDeps) {}

  /**
   * The mail that a draft makes, with its links as they were written and a test's for unsubscribing. Throws AppError `invalid`
   * by field: for bodies that no template may have, for what is too long when rendered, and under `contact` for one that is
   * not of this project.
   */
  async preview(project: { id: number }, sent: Draft): Promise<Preview> {
    const owner = this.deps.projectOf(project.id);
    if (!owner) throw notFound('Project');
    const { contact: contact_id, sample, declared = null, variables: _, preheader: __, ...fields } = sent;
    if (contact_id !== undefined && sample)
      throw invalid({ sample: ['does not go with contact: send one of them'] });
    const contact = contact_id === undefined ? null : this.#contactOf(owner, contact_id);
    const draft = await this.deps.templates.draft(owner.id, { ...fields, variables: declared });
    const show = draft.is_marketing
      ? this.#asMarketing(owner, draft, { sent, contact })
      : this.#asTransactional(owner, draft, { sent, contact });
    return this.deps.beside.do({ project_id: owner.id, field: '_' }, SHOW_DRAFT, show);
  }

  /**
   * Sends what `preview` shows to an address, marked in its subject. It goes out at once, from a mailbox of its kind, and counts
   * nowhere. Throws as `preview` does, AppError `invalid` where it has no subject, `conflict` project_inactive, and what
   * accepting a mail throws.
   */
  async sendTest(
    project: { id: number },
    { to, ...sent }: Draft & { to: string },
    note: Note,
  ): Promise<{ email_id: string; job_id: string }> {
    const { subject, body_html, body_text } = await this.preview(project, sent);
    if (subject.trim() === '') throw invalid({ subject: ['is needed: mail without one looks like spam'] });
    const settings = sent.is_marketing ? this.deps.marketing.settings(project.id) : null;
    return this.deps.database.write((tx) => {
      this.deps.projects.requireActive(project.id, tx);
      const { id, job_id } = this.deps.emails.accept(tx, {
        project_id: project.id,
        api_key_id: null,
        is_test: false,
        // Of which kind its mailbox must be.
        source: settings ? 'test' : 'api',
        to,
        to_name: null,
        cc: [],
        bcc: [],
        from_name: settings?.from_name ?? null,
        reply_to: settings?.reply_to ?? null,
        subject: markAsTest(subject),
        content: { body_html, body_text },
        template: null,
        domain: null,
        attachments: [],
        scheduled_at: null,
        client: null,
        ...(settings && { allowed_mailboxes: settings.accounts }),
      });
      note(tx, { event: 'email.accepted', target: `email:${id}`, metadata: { job_id, is_test: true } });
      return { email_id: id, job_id };
    });
  }

  #contactOf(owner: MailOwner, public_id: string): ContactRow {
    const contact = this.deps.contacts.findByPublicId(public_id.toUpperCase());
    if (contact?.project_id !== owner.id)
      throw invalid({ contact: ['must be the id of a contact of this project'] });
    return contact;
  }

  #asMarketing(
    owner: MailOwner,
    draft: TemplateFields,
    { sent, contact }: { sent: Draft; contact: ContactRow | null },
  ): DraftToShow {
    const { lists, marketing, marketing_mail } = this.deps;
    const errors = {};
    const variables = readVariables(sent.variables ?? {}, 'variables', errors);
    refuseAll(errors);
    const list = contact && lists.findById(contact.list_id);
    const of = {
      owner,
      list: { public_id: list?.public_id ?? '', token_hosts: [], language: list?.language ?? null },
      variables,
      preheader: sent.preheader ?? null,
      settings: marketing.settings(owner.id),
      track_opens: false,
      utm: null,
    };
    // Its links are a test's: who looks at the mail does not come by its reader's token.
    const reader = contact && { ...contact, contact_token: 'sample-token' };
    return { kind: 'marketing', show: marketing_mail.toShow(of, draft, reader) };
  }

  #asTransactional(
    owner: MailOwner,
    template: TemplateFields,
    { sent, contact }: { sent: Draft; contact: ContactRow | null },
  ): DraftToShow {
    const { marketing_mail, max_body_bytes } = this.deps;
    const { email, first_name, last_name, custom } = contact ?? {};
    return {
      kind: 'transactional',
      template,
      given: { ...(contact && { email, first_name, last_name, custom }), ...sent.variables },
      sample: sent.sample ?? false,
      links: marketing_mail.testLinks(owner.id),
      max_body_bytes,
    };
  }
}
