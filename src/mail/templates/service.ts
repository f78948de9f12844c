/** Saved templates: what may be saved, how they are found, and what a send or a preview gets of them. */
import { collectErrors, type FieldErrors, invalid, notFound } from '../../errors.ts';
import { changesOf, type Note } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Beside } from '../../platform/host/beside.ts';
import { type Clock, DAY_MS, MINUTE_MS } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import { present } from '../../platform/http/fields.ts';
import type { Static } from '../../platform/http/schema.ts';
import { createNaming, type Naming } from '../../platform/words/phrases.ts';
import { CompiledCache } from './compiled-cache.ts';
import { checkTemplate, chooseSlug, refusalOfMarkdown } from './fields.ts';
import { MAKE_BODIES, type MarkdownBodies } from './markdown.ts';
import {
  type CompiledMail,
  compileMail,
  PREVIEW,
  type PreviewedMail,
  type RenderedMail,
  refuseUnsendable,
  renderMail,
} from './rendering.ts';
import {
  FIELDS,
  type newTemplate,
  SUMMARY_FIELDS,
  type TemplateChanges,
  type TemplateFields,
  type TemplateListItem,
  type TemplateRecord,
} from './schemas.ts';
import {
  deleteTemplate,
  findAnyTemplate,
  findTemplate,
  findTemplateState,
  insertTemplate,
  listOwn,
  listTemplates,
  listTemplatesCalled,
  type TemplateState,
  type TemplateSummary,
  updateTemplate,
} from './store.ts';
import type { TemplateRow } from './tables.ts';

export { CompiledCache } from './compiled-cache.ts';
/* What marketing mail is made with, besides the templates themselves. */
export { splitAtLinks } from './markdown-tree.ts';
export { compileTemplate, isOptional } from './placeholders.ts';
export { compileMail, type PreviewedMail, previewMail } from './rendering.ts';
export { draft_fields, type TemplateFields, type TemplateRecord } from './schemas.ts';
export type { TemplateState } from './store.ts';
export type { TemplateRow } from './tables.ts';

/** Compiled templates in memory: the hot ones of a team fit many times over. */
const MAX_COMPILED_TEMPLATES_BYTES = 32 * 1024 * 1024;

/** What a template must have to make marketing mail. */
/** What the console's editors start with. */
const UNWRITTEN = /write\s+here\s+what\s+the\s+mail\s+is\s+about\./i;

export interface TemplateFacts {
  is_marketing: boolean;
  is_active: boolean;
  has_text: boolean;
  has_layout: boolean;
  /** Whether a body still has the sentence that editors start with. */
  is_unwritten: boolean;
  /** Names of placeholders in any of its parts. */
  placeholders: ReadonlySet<string>;
}

function toListItem(row: TemplateSummary): TemplateListItem {
  return present(SUMMARY_FIELDS, { ...row, id: row.public_id });
}

function toRecord(row: TemplateRow): TemplateRecord {
  return present(FIELDS, { ...row, id: row.public_id, has_draft: row.draft !== null });
}

/** Puts the bodies of a mail into the layout that a project's marketing mail has, to be looked at. */
type LayOut = (project_id: number, bodies: Bodies) => Promise<Bodies>;
type Bodies = Pick<RenderedMail, 'body_html' | 'body_text'>;

interface TemplatesDeps {
  database: Database;
  clock: Clock;
  beside: Pick<Beside, 'do'>;
  /** Of each body, before and after rendering. */
  max_body_bytes: number;
}

export class Templates {
  readonly #compiled = new CompiledCache<CompiledMail>(MAX_COMPILED_TEMPLATES_BYTES);
  #layOut: LayOut = async (_, bodies) => bodies;
  readonly #facts = new CompiledCache<TemplateFacts>(MAX_COMPILED_TEMPLATES_BYTES);

  constructor(private readonly deps: TemplatesDeps) {}

  /** Sets who has the layout of marketing mail. */
  setLayout(layOut: LayOut): void {
    this.#layOut = layOut;
  }

  /** All templates of a project, newest first; the words of its broadcasts and steps only where they are asked for. */
  list(project_id: number, of: { with_own: boolean } = { with_own: false }): TemplateListItem[] {
    return listTemplates(this.deps.database.read, project_id, of).map(toListItem);
  }

  /** Throws AppError `not_found`. */
  get(project_id: number, slug: string): TemplateRecord {
    const found = this.find(project_id, slug);
    if (!found) throw notFound('Template');
    return found;
  }

  find(project_id: number, slug: string): TemplateRecord | null {
    const row = findTemplate(this.deps.database.read, project_id, slug);
    return row ? toRecord(row) : null;
  }

  /**
   * What no template may be, by field, of one that is made (`current` null) or changed; of Markdown, what is
   * seen before it is made.
   */
  errorsIn(
    project_id: number,
    current: TemplateRecord | null,
    sent: TemplateChanges & { slug?: string | undefined; is_own?: boolean | undefined },
  ): FieldErrors {
    const { slug, is_own = current?.is_own ?? false, ...given } = sent;
    const rules = { slug: slug ?? null, is_own, max_body_bytes: this.deps.max_body_bytes, made: null };
    return collectErrors(
      () => checkTemplate(current, given, rules),
      () => slug !== undefined && chooseSlug(slug, '', (each) => this.#isTaken(project_id, each)),
    );
  }

  /**
   * Saves a new template under the given slug, else under one made from its name. Throws AppError `invalid`
   * by field, also for a given slug that another template of the project has.
   */
  async create(project_id: number, input: Static<typeof newTemplate>, note: Note): Promise<TemplateRecord> {
    const { slug = null, is_own = false, ...given } = input;
    const made = await this.#make(project_id, given);
    const rules = { slug, is_own, max_body_bytes: this.deps.max_body_bytes, made };
    const fields = checkTemplate(null, given, rules);
    const row = await this.deps.database.write((tx) => {
      const isTaken = (candidate: string) => findTemplateState(tx, project_id, candidate) !== null;
      const now = this.deps.clock.now();
      const public_id = newId(now);
      const created = insertTemplate(tx, {
        ...fields,
        is_own,
        public_id,
        project_id,
        // The names are for what people call by them.
        slug: chooseSlug(slug ?? (is_own ? ownSlug(public_id) : null), fields.name, isTaken),
        created_at: now,
        updated_at: now,
      });
      note(tx, { event: 'template.created', ...toldOf(created) });
      return created;
    });
    return toRecord(row);
  }

  /**
   * Changes what is given; null clears an optional field. The next send has the new form. A draft alone is in no mail, and on
   * no trail. Throws AppError `not_found`, and `invalid` for what would leave a template that could not be created so.
   */
  async update(
    project_id: number,
    slug: string,
    changes: TemplateChanges,
    note: Note,
  ): Promise<TemplateRecord> {
    const made = await this.#make(project_id, changes);
    const rules = { slug: null, max_body_bytes: this.deps.max_body_bytes, made };
    const row = await this.deps.database.write((tx) => {
      const current = findTemplate(tx, project_id, slug);
      if (!current) throw notFound('Template');
      const fields = checkTemplate(current, changes, { ...rules, is_own: current.is_own });
      if (Object.keys(changes).every((name) => name === 'draft'))
        return updateTemplate(tx, current.id, { draft: fields.draft });
      // Always later than before, also within one millisecond: compiled forms are told apart by it.
      const updated_at = Math.max(this.deps.clock.now(), current.updated_at + 1);
      const changed = updateTemplate(tx, current.id, { ...fields, updated_at });
      const { draft: _, ...published } = changed;
      note(tx, {
        event: 'template.changed',
        ...toldOf(changed),
        changes: changesOf(current, published),
        ...(current.is_own && { sitting_ms: SITTING_MS }),
      });
      return changed;
    });
    return toRecord(row);
  }

  /** Deletes a template and frees its slug. Throws AppError `not_found`. */
  remove(project_id: number, slug: string, note: Note): Promise<void> {
    return this.deps.database.write((tx) => {
      const current = findTemplateState(tx, project_id, slug);
      if (!current) throw notFound('Template');
      deleteTemplate(tx, current.id);
      note(tx, { event: 'template.deleted', target: targetOf(slug) });
    });
  }

  /** The slug that a copy of what uses this template has: of own words another, which say the same. */
  copyOwn(tx: Tx, project_id: number, slug: string): string {
    const row = findTemplate(tx, project_id, slug);
    if (!row?.is_own) return slug;
    const { id: _, ...words } = row;
    const now = this.deps.clock.now();
    const public_id = newId(now);
    const fresh = { public_id, slug: ownSlug(public_id), draft: null, created_at: now, updated_at: now };
    return insertTemplate(tx, { ...words, ...fresh }).slug;
  }

  /** Deletes own words of a day ago and longer that nothing names; `isNamed` is asked in the transaction. */
  async sweepOwn(isNamed: (tx: Tx) => (project_id: number, slug: string) => boolean): Promise<void> {
    await this.deps.database.write((tx) => {
      const named = isNamed(tx);
      for (const { id, project_id, slug } of listOwn(tx, this.deps.clock.now() - DAY_MS))
        if (!named(project_id, slug)) deleteTemplate(tx, id);
    });
  }

  /**
   * What a sequence's checks ask of a template, also before each few of its mails; null where there is none.
   */
  factsOf(project_id: number, slug: string): TemplateFacts | null {
    const state = findTemplateState(this.deps.database.read, project_id, slug);
    const held = state && this.#facts.get(state.id, state.updated_at);
    if (held) return held;
    const row = findTemplate(this.deps.database.read, project_id, slug);
    if (!row) return null;
    const { subject, body_html, body_text } = compileMail(row);
    const { is_marketing, is_active } = row;
    const names = [subject, body_html, body_text].flatMap((part) => part?.names ?? []);
    const facts = {
      is_marketing,
      is_active,
      has_text: body_text !== null,
      has_layout: row.layout === 'marketing',
      is_unwritten: [row.body_html, row.body_text].some((body) => UNWRITTEN.test(body ?? '')),
      placeholders: new Set(names),
    };
    this.#facts.set(row.id, row.updated_at, facts, 1_024 + 4 * names.join('').length);
    return facts;
  }

  /**
   * Why a template cannot be filled with these values alone, one of which its body must hold; null when it
   * can. It must be one that transactional sends may use.
   */
  refusalOf(
    project_id: number,
    slug: string,
    values: { must_hold: string; known: readonly string[] },
  ): string | null {
    const row = findTemplate(this.deps.database.read, project_id, slug);
    const refusal = refusalOf(row);
    if (refusal !== null || !row) return refusal ?? UNKNOWN;
    const { subject, body_html, body_text, declared } = compileMail(row);
    const bodies = [body_html, body_text].flatMap((body) => (body === null ? [] : [new Set(body.names)]));
    if (!bodies.every((names) => names.has(values.must_hold)))
      return `must hold {{${values.must_hold}}} in each of its bodies`;
    const optional = declared.filter((variable) => !variable.required).map((variable) => variable.name);
    const known = new Set([values.must_hold, ...values.known, ...optional]);
    const needed = declared.filter((variable) => variable.required).map((variable) => variable.name);
    const unknown = [...subject.names, ...bodies.flatMap((names) => [...names]), ...needed].find(
      (name) => !known.has(name),
    );
    return unknown === undefined
      ? null
      : `uses {{${unknown}}}, which has no value here: ${[...known].join(', ')} have`;
  }

  /**
   * What a send of this template holds. Throws AppError `invalid`: under `template` for one that is unknown,
   * inactive or marketing, under `variables.<name>` for each value that is missing or no text, under
   * `subject` or a body for one that is too long when rendered.
   */
  renderForSend(
    project_id: number,
    slug: string,
    variables: Readonly<Record<string, unknown>>,
  ): RenderedMail {
    return this.findForSend(project_id, slug)(variables);
  }

  /** What makes of values what `renderForSend` does: for many sends, the template is looked up once. */
  findForSend(
    project_id: number,
    slug: string,
  ): (variables: Readonly<Record<string, unknown>>) => RenderedMail {
    const state = findTemplateState(this.deps.database.read, project_id, slug);
    const refusal = refusalOf(state);
    if (refusal !== null || !state) throw invalid({ template: [refusal ?? UNKNOWN] });
    const compiled = this.#compiled.get(state.id, state.updated_at) ?? this.#compile(project_id, slug);
    return (variables) => {
      const mail = renderMail(compiled, variables, { max_body_bytes: this.deps.max_body_bytes });
      refuseUnsendable(mail);
      return mail;
    };
  }

  /**
   * As a send would hold it, whatever kind of template it is and in its layout, with the names of what is
   * missing; with `changes` as if they were saved. Throws AppError `not_found`, and `invalid` for what is too
   * long when rendered and for changes that could not be.
   */
  async preview(
    project_id: number,
    slug: string,
    variables: Readonly<Record<string, unknown>>,
    changes: TemplateChanges = {},
  ): Promise<PreviewedMail> {
    const made = await this.#make(project_id, changes);
    const row = findTemplate(this.deps.database.read, project_id, slug);
    if (!row) throw notFound('Template');
    const { max_body_bytes, beside } = this.deps;
    const template = checkTemplate(row, changes, { slug: null, made, max_body_bytes });
    const of = { project_id, field: '_' };
    const mail = await beside.do(of, PREVIEW, { template, variables, max_body_bytes });
    if (template.layout === null) return mail;
    const { body_html, body_text } = mail;
    return { ...mail, ...(await this.#layOut(project_id, { body_html, body_text })) };
  }

  /**
   * What a template of these fields would be, its Markdown made; saves nothing. Throws AppError `invalid` by
   * field for bodies and declared variables that no template may have.
   */
  async draft(project_id: number, sent: TemplateChanges): Promise<TemplateFields> {
    const made = await this.#make(project_id, sent);
    const rules = { slug: null, made, max_body_bytes: this.deps.max_body_bytes };
    return checkTemplate(null, sent, rules);
  }

  /** Which version of a template is the current one, and whether it may be used; null where there is none. */
  stateOf(read: Tx, project_id: number, slug: string): TemplateState | null {
    return findTemplateState(read, project_id, slug);
  }

  /** A template as it is stored; null where there is none. */
  rowOf(read: Tx, project_id: number, slug: string): TemplateRow | null {
    return findTemplate(read, project_id, slug);
  }

  /** What the Markdown that was sent makes; null where none was sent that may be made. */
  async #make(project_id: number, sent: TemplateChanges): Promise<MarkdownBodies | null> {
    const max_bytes = this.deps.max_body_bytes;
    const { body_markdown: markdown } = sent;
    if (!markdown || refusalOfMarkdown(sent, max_bytes) !== null) return null;
    return this.deps.beside.do({ project_id, field: 'body_markdown' }, MAKE_BODIES, { markdown, max_bytes });
  }

  #isTaken(project_id: number, slug: string): boolean {
    return findTemplateState(this.deps.database.read, project_id, slug) !== null;
  }

  #compile(project_id: number, slug: string): CompiledMail {
    const row = findTemplate(this.deps.database.read, project_id, slug);
    // Another process may have deleted it or switched it off since.
    const refusal = refusalOf(row);
    if (refusal !== null || !row) throw invalid({ template: [refusal ?? UNKNOWN] });
    const compiled = compileMail(row);
    const characters = row.subject.length + (row.body_html?.length ?? 0) + (row.body_text?.length ?? 0);
    // Two bytes a character at most, and about as much again for the parts and the variables' declarations.
    this.#compiled.set(row.id, row.updated_at, compiled, 1_024 + 4 * characters);
    return compiled;
  }
}

function targetOf(slug: string): string {
  return `template:${slug}`;
}

/** Own words are told by their name: nobody chose their slug. */
function toldOf({ slug, name, is_own }: TemplateRow) {
  return { target: targetOf(slug), ...(is_own && { metadata: { name } }) };
}

function ownSlug(public_id: string): string {
  return `own-${public_id.toLowerCase()}`;
}

/** What somebody changes of own words within so long is on the trail once: they are saved as one types. */
const SITTING_MS = 10 * MINUTE_MS;

const UNKNOWN = 'must be the slug of a template of this project';

/** Why a template cannot be sent by itself, or null when it can. */
function refusalOf(state: Pick<TemplateState, 'is_active' | 'is_marketing'> | null): string | null {
  if (!state) return UNKNOWN;
  if (state.is_marketing) return 'is a marketing template: only sequences and broadcasts send those';
  return state.is_active ? null : 'is inactive: set is_active to true, or name another template';
}

/** How the shell finds templates: by id, slug or name. */
export function templateNaming({ database }: Pick<TemplatesDeps, 'database'>): Naming {
  return createNaming(
    'template',
    {
      byId: (id) => findAnyTemplate(database.read, id),
      called: (project_id, name) => listTemplatesCalled(database.read, project_id, name),
    },
    ({ slug, public_id }) => ({ key: slug, slug, id: public_id, is_over: false }),
  );
}
