/** An email before it is accepted, as each of those who send one make it. */
import { MAX_USER_AGENT_CHARS } from '../../limits.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { IdempotentRequest } from '../../platform/http/idempotency.ts';
import { type ProjectCaller, projectUrl } from '../../platform/http/routes.ts';
import type { SendBody } from './schemas.ts';
import type { Bodies } from './store.ts';
import type { EmailSource } from './tables.ts';

/**
 * What an email is rendered from as it is sent, by the renderer of its source: revisions and values, never
 * whole bodies.
 */
export type Merge = Readonly<Record<string, unknown>>;

/** A message that came whole, and is sent as it came; `object_id` names its bytes. */
export interface WholeMessage {
  object_id: string;
  message_id: string;
}

/** An email before it is accepted: what is accepted is what is sent. */
export interface NewEmail {
  project_id: number;
  /** Whose daily limit it counts towards. */
  api_key_id: number | null;
  is_test: boolean;
  source: EmailSource;
  to: string;
  to_name: string | null;
  cc: readonly string[];
  bcc: readonly string[];
  reply_to: string | null;
  from_name: string | null;
  subject: string;
  /** Rendered, or what it is rendered from; or a message that came whole. */
  content: Bodies | { merge: Merge } | { whole: WholeMessage };
  /** Slug of the template that the content was made from. */
  template: string | null;
  /** The sending domain asked for; null leaves it open. */
  domain: string | null;
  /** The mailbox asked for, by address: it goes out from no other. */
  from?: string | null;
  /** Public ids of objects of the same project. */
  attachments: readonly string[];
  /** Further headers, such as List-Unsubscribe. */
  headers?: Readonly<Record<string, string>>;
  /** The only mailboxes that it may ever go out from, by address; any that fits unless given. */
  allowed_mailboxes?: readonly string[];
  /** When it is due, in epoch milliseconds; at once when null. */
  scheduled_at: number | null;
  /** Where the request came from, recorded when it named its app. */
  client: { app_id: string; ip: string | null; user_agent: string | null } | null;
  /** Its id, where its content names that; made unless given. */
  id?: string;
  /** Its Message-ID, with brackets; made unless given. */
  message_id?: string | null;
  /** The call of an app that it came with; see mail/apps. */
  call_id?: string;
  /** Who asked for it without a key: where they look it up, and how they are put on the audit trail. */
  manager?: { api_url: string; note: Note } | null;
}

export interface RenderedContent {
  subject: string;
  body_html: string | null;
  body_text: string | null;
}

/** What emails need of mail/templates. Throws AppError `invalid` where the template does not fit. */
export interface TemplateSource {
  renderForSend(
    project_id: number,
    slug: string,
    variables: Readonly<Record<string, unknown>>,
  ): RenderedContent;
  /** What renders as `renderForSend` does, for many emails of one template. */
  findForSend(
    project_id: number,
    slug: string,
  ): (variables: Readonly<Record<string, unknown>>) => RenderedContent;
}

/** What a request to send asks to be sent: rendered from a template, or as it stands there. */
export function contentOf(
  body: Partial<SendBody>,
  render: (slug: string, variables: Readonly<Record<string, unknown>>) => RenderedContent,
): RenderedContent {
  if (body.template !== undefined) return render(body.template, body.variables ?? {});
  const { subject = '', body_html = null, body_text = null } = body;
  return { subject, body_html, body_text };
}

/** What a request is, besides its body. */
export interface SendRequest {
  idempotency: IdempotentRequest;
  /** Called only where there is an Idempotency-Key. */
  hash(): string;
  ip: string | null;
  user_agent: string | null;
}

/** The email that a request asks for. */
export function requestedEmail(
  caller: ProjectCaller,
  sent: SendBody,
  request: Pick<SendRequest, 'ip' | 'user_agent'> & { content: RenderedContent; public_url: string },
): NewEmail {
  const { content, public_url } = request;
  return {
    content,
    subject: content.subject,
    project_id: caller.project.id,
    api_key_id: caller.key?.key_id ?? null,
    is_test: caller.key?.is_test ?? false,
    source: 'api',
    to: sent.to,
    to_name: sent.to_name ?? null,
    cc: sent.cc ?? [],
    bcc: sent.bcc ?? [],
    reply_to: sent.reply_to ?? null,
    from_name: sent.from_name ?? null,
    template: sent.template ?? null,
    domain: sent.domain ?? null,
    from: sent.from ?? null,
    attachments: sent.attachments ?? [],
    scheduled_at: sent.scheduled_at === undefined ? null : Date.parse(sent.scheduled_at),
    client: clientOf(caller, request),
    manager: caller.key ? null : { api_url: projectUrl(public_url, caller), note: caller.note },
  };
}

function clientOf(
  caller: ProjectCaller,
  { ip, user_agent }: Pick<SendRequest, 'ip' | 'user_agent'>,
): NewEmail['client'] {
  const app_id = caller.key?.app_id ?? null;
  return app_id === null
    ? null
    : { app_id, ip, user_agent: user_agent?.slice(0, MAX_USER_AGENT_CHARS) ?? null };
}

/** One mail of a schedule's run. */
export interface ScheduledEmail
  extends Pick<
    NewEmail,
    'project_id' | 'api_key_id' | 'is_test' | 'cc' | 'bcc' | 'reply_to' | 'from_name' | 'domain' | 'template'
  > {
  to: { email: string; name: string | null };
  content: Bodies & { subject: string };
}

export function scheduledEmail({ to, content, ...rest }: ScheduledEmail): NewEmail {
  return {
    ...rest,
    content,
    subject: content.subject,
    to: to.email,
    to_name: to.name,
    source: 'schedule',
    attachments: [],
    // RFC 3834: no absence notice answers what nobody wrote by hand.
    headers: { 'Auto-Submitted': 'auto-generated' },
    scheduled_at: null,
    client: null,
  };
}

/** A mail that asks to confirm a sign-up. */
export type ConfirmationEmail = Pick<
  NewEmail,
  'project_id' | 'is_test' | 'to' | 'from_name' | 'reply_to' | 'allowed_mailboxes'
> & {
  template: string;
  variables: Readonly<Record<string, string>>;
  /** Puts what the template makes into its layout. */
  layOut(content: RenderedContent): RenderedContent;
};

export function confirmationEmail(
  { variables: _rendered, layOut: _done, ...mail }: ConfirmationEmail,
  content: RenderedContent,
): NewEmail {
  return {
    ...mail,
    content,
    subject: content.subject,
    source: 'confirmation',
    api_key_id: null,
    to_name: null,
    cc: [],
    bcc: [],
    domain: null,
    attachments: [],
    scheduled_at: null,
    client: null,
  };
}
