/** SQL of saved templates. */
import { and, desc, eq, getTableColumns, or, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { emailTemplates, type TemplateRow } from './tables.ts';

/** The columns that decide whether a template may be used, and which compiled form of it is current. */
export type TemplateState = Pick<TemplateRow, 'id' | 'updated_at' | 'is_active' | 'is_marketing'>;

const {
  body_html: _html,
  body_text: _text,
  body_markdown: _markdown,
  draft: _draft,
  ...columns_without_texts
} = getTableColumns(emailTemplates);
const columns_without_bodies = {
  ...columns_without_texts,
  has_draft: sql`${emailTemplates.draft} IS NOT NULL`.mapWith(Boolean),
};
export type TemplateSummary = Omit<TemplateRow, 'body_html' | 'body_text' | 'body_markdown' | 'draft'> & {
  has_draft: boolean;
};

/** Each send asks this one; the bodies stay out of it, so that a compiled template costs no read of its text. */
export const findTemplateState = rawGet<TemplateState, [project_id: number, slug: string]>(
  'SELECT id, updated_at, is_active, is_marketing FROM email_templates WHERE project_id = ? AND slug = ?',
  emailTemplates,
);

export const findTemplate = rawGet<TemplateRow, [project_id: number, slug: string]>(
  'SELECT * FROM email_templates WHERE project_id = ? AND slug = ?',
  emailTemplates,
);

/** Of whatever project. */
export function findAnyTemplate(tx: Tx, public_id: string): TemplateSummary | undefined {
  return tx
    .select(columns_without_bodies)
    .from(emailTemplates)
    .where(eq(emailTemplates.public_id, public_id))
    .get();
}

/** Those with this slug or this name, newest first. */
export function listTemplatesCalled(tx: Tx, project_id: number, name: string): TemplateSummary[] {
  const { slug, name: title } = emailTemplates;
  return tx
    .select(columns_without_bodies)
    .from(emailTemplates)
    .where(and(eq(emailTemplates.project_id, project_id), or(eq(slug, name), eq(title, name))))
    .orderBy(desc(emailTemplates.id))
    .all();
}

/** Templates of a project, newest first, without their bodies: the list has no pages. */
export function listTemplates(
  tx: Tx,
  project_id: number,
  { with_own }: { with_own: boolean },
): TemplateSummary[] {
  return tx
    .select(columns_without_bodies)
    .from(emailTemplates)
    .where(
      and(eq(emailTemplates.project_id, project_id), with_own ? undefined : eq(emailTemplates.is_own, false)),
    )
    .orderBy(desc(emailTemplates.id))
    .all();
}

export type NewTemplate = Omit<TemplateRow, 'id'>;

export function insertTemplate(tx: Tx, template: NewTemplate): TemplateRow {
  return tx.insert(emailTemplates).values(template).returning().get();
}

export function updateTemplate(tx: Tx, id: number, changes: Partial<NewTemplate>): TemplateRow {
  return tx.update(emailTemplates).set(changes).where(eq(emailTemplates.id, id)).returning().get();
}

export const deleteTemplate = rawRun<[id: number]>('DELETE FROM email_templates WHERE id = ?');

/** Those that are the words of one broadcast or step, of all projects, made before then. */
export const listOwn = rawAll<Pick<TemplateRow, 'id' | 'project_id' | 'slug'>, [before_ms: number]>(
  'SELECT id, project_id, slug FROM email_templates WHERE is_own = 1 AND created_at < ?',
);
