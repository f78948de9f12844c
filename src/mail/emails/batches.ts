/** Batches: many emails in one request, of which all are accepted or none. */
import type { Projects } from '../../access/projects/service.ts';
import type { Config } from '../../config.ts';
import { AppError, type FieldErrors, invalid } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { monotonicMs } from '../../platform/host/clock.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import type { Idempotency, KeptAnswer } from '../../platform/http/idempotency.ts';
import type { ProjectCaller } from '../../platform/http/routes.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { allErrors, requireValid, type Validated, validate } from '../../platform/http/validation.ts';
import {
  contentOf,
  type NewEmail,
  type RenderedContent,
  requestedEmail,
  type SendRequest,
  type TemplateSource,
} from './new-email.ts';
import { type BatchResult, batchEmail, CONTENT_FIELDS } from './schemas.ts';
import type { Emails } from './service.ts';

/**
 * The rendered bodies of a batch together (it grows with the email limit): 80 KB for each of a hundred, as
 * mail programs cut at 102 KB, and what a transaction writes in some tens of milliseconds.
 */
export const MAX_BATCH_CONTENT_BYTES = 8 * 1024 * 1024;

/** How long emails are rendered before others have their turn: the largest takes milliseconds. */
const RENDER_STEP_MS = 5;

interface EmailBatchesDeps {
  config: Pick<Config, 'public_url' | 'max_email_body_bytes'>;
  database: Database;
  idempotency: Idempotency;
  templates: TemplateSource;
  emails: Pick<Emails, 'acceptAll' | 'errorsIn'>;
  projects: Pick<Projects, 'requireActive'>;
}

type FoundEmail = Validated<typeof batchEmail>;

export class EmailBatches {
  constructor(private readonly deps: EmailBatchesDeps) {}

  /**
   * Takes a batch as it was sent: all of its emails are accepted in one transaction, or none. Answers 202
   * with a result for each, in order, and whether that was told before. Throws AppError `invalid` with all
   * that is wrong with any of them, each field under its email's place in the batch; `rate_limited`,
   * `unavailable`; `conflict` for an Idempotency-Key of another request, and project_inactive.
   */
  async send(
    caller: ProjectCaller,
    sent: readonly unknown[],
    request: SendRequest,
  ): Promise<KeptAnswer & { is_replayed: boolean }> {
    const found = sent.map(validateOne);
    const { idempotency, hash } = request;
    return this.deps.idempotency.run(idempotency, async (claim) => {
      const { kept, keep } = claim(idempotency.key === null ? '' : hash());
      if (kept) return { ...kept, is_replayed: true };
      this.deps.projects.requireActive(caller.project.id);
      try {
        const emails = await this.#make(caller, found, request);
        // Others had their turn meanwhile.
        idempotency.acceptAgain();
        const answer = await this.deps.database.write((tx) => {
          const given = { status: 202, value: this.#accept(tx, emails) };
          keep(tx, given);
          return given;
        });
        return { ...answer, is_replayed: false };
      } catch (error) {
        if (!(error instanceof AppError) || error.kind !== 'invalid') throw error;
        throw invalid({ ...(await this.#errorsIn(caller, found)), ...error.errors });
      }
    });
  }

  #accept(tx: Tx, emails: readonly NewEmail[]): BatchResult[] {
    return this.deps.emails
      .acceptAll(tx, emails, ofEmail)
      .map(({ id, status, job_id }) => ({ id, status, job_id }));
  }

  /** The emails that are asked for, rendered. Throws AppError `invalid`. */
  async #make(
    caller: ProjectCaller,
    found: readonly FoundEmail[],
    { ip, user_agent }: SendRequest,
  ): Promise<NewEmail[]> {
    const { public_url, max_email_body_bytes } = this.deps.config;
    const render = this.#renderer(caller.project.id);
    const max_bytes = Math.max(MAX_BATCH_CONTENT_BYTES, 2 * max_email_body_bytes);
    const emails: NewEmail[] = [];
    let bytes = 0;
    for await (const [index, one] of inTurns(found)) {
      const email = ofEmail(index, () => {
        const body = requireValid(one);
        const content = contentOf(body, render);
        bytes += Buffer.byteLength(content.body_html ?? '') + Buffer.byteLength(content.body_text ?? '');
        return requestedEmail(caller, body, { ip, user_agent, content, public_url });
      });
      if (bytes > max_bytes)
        throw invalid({ emails: [`must have at most ${max_bytes} bytes in the bodies of all emails`] });
      emails.push(email);
    }
    return emails;
  }

  /** Looks each template up once. */
  #renderer(
    project_id: number,
  ): (slug: string, variables: Readonly<Record<string, unknown>>) => RenderedContent {
    const known = new Map<string, ReturnType<TemplateSource['findForSend']>>();
    return (slug, variables) => {
      const render = known.get(slug) ?? this.deps.templates.findForSend(project_id, slug);
      known.set(slug, render);
      return render(variables);
    };
  }

  async #errorsIn(caller: ProjectCaller, found: readonly FoundEmail[]): Promise<FieldErrors> {
    const errors: FieldErrors = {};
    const judge = (sound: FoundEmail['value']): FieldErrors => this.deps.emails.errorsIn(caller, sound);
    for await (const [index, one] of inTurns(found))
      Object.assign(
        errors,
        placed(index, '_' in one.errors ? one.errors : allErrors(one, judge, CONTENT_FIELDS)),
      );
    return errors;
  }
}

function validateOne(sent: unknown): FoundEmail {
  return isPlainObject(sent)
    ? validate(batchEmail, sent)
    : { value: {}, errors: { _: ['must be an object'] } };
}

/** Errors of one email under its place in the batch. */
function placed(index: number, errors: FieldErrors): FieldErrors {
  const at = `emails.${index}`;
  return Object.fromEntries(
    Object.entries(errors).map(([field, messages]) => [field === '_' ? at : `${at}.${field}`, messages]),
  );
}

/** Has a refusal say of which email it is. */
function ofEmail<T>(index: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.kind === 'invalid') throw invalid(placed(index, error.errors ?? {}), { cause: error });
    const { kind, message, retry_after_s } = error;
    throw new AppError(kind, `emails.${index}: ${message}`, {
      cause: error,
      ...(retry_after_s === undefined ? {} : { retry_after_s }),
    });
  }
}

/** Each with its place; others have their turn between them. */
async function* inTurns<T>(items: readonly T[]): AsyncGenerator<[number, T]> {
  let ends_ms = monotonicMs() + RENDER_STEP_MS;
  for (const item of items.entries()) {
    if (monotonicMs() >= ends_ms) {
      await letOthers();
      ends_ms = monotonicMs() + RENDER_STEP_MS;
    }
    yield item;
  }
}
