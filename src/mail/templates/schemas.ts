/** Shapes of what clients send and get of saved templates. */
import {
  MAX_DESCRIPTION_CHARS,
  MAX_NAME_CHARS,
  MAX_PREHEADER_CHARS,
  MAX_SUBJECT_CHARS,
} from '../../limits.ts';
import {
  type Changes,
  changesOfFields,
  creationOf,
  moment,
  optional,
  preset,
  type RecordOfFields,
  recordOf,
  required,
  shown,
  type Values,
} from '../../platform/http/fields.ts';
import {
  changesOf,
  named,
  nullable,
  nullables,
  oneOf,
  optionals,
  type Static,
  t,
  text,
} from '../../platform/http/schema.ts';
import { TEMPLATE_CATEGORIES } from './tables.ts';

/** Declared variables of one template: more than any mail reads, few enough to list them all in a message. */
const MAX_TEMPLATE_VARIABLES = 100;

const sent_variable = t.Object({
  name: text({ min: 1, max: MAX_NAME_CHARS, description: 'As in its placeholder: `{{ name }}`.' }),
  description: t.Optional(text({ max: MAX_DESCRIPTION_CHARS })),
  required: t.Optional(
    t.Boolean({ description: 'Default false: without a value the placeholder is empty.' }),
  ),
});
/** A declared placeholder, as it is stored. */
const variable = t.Object({
  name: t.String(),
  description: nullable(t.String()),
  required: t.Boolean(),
});
export type SentVariable = Static<typeof sent_variable>;
export type TemplateVariable = Static<typeof variable>;

/** A template as a list shows it. Categories sort; only `is_marketing` makes a template a marketing one. */
export const SUMMARY_FIELDS = {
  id: shown(t.String()),
  slug: shown(t.String()),
  name: required(text({ min: 1, max: MAX_NAME_CHARS })),
  category: required(oneOf(TEMPLATE_CATEGORIES)),
  subject: required(text({ min: 1, max: MAX_SUBJECT_CHARS, description: 'May hold placeholders.' })),
  description: optional(null, text({ max: MAX_DESCRIPTION_CHARS })),
  variables: optional([], t.Array(sent_variable, { maxItems: MAX_TEMPLATE_VARIABLES }), {
    stored: t.Array(variable),
  }),
  is_active: optional(true, t.Boolean({ description: 'Default true.' })),
  is_marketing: optional(
    false,
    t.Boolean({ description: 'Default false. True needs `can_manage_email_marketing`.' }),
  ),
  layout: optional(null, {
    ...oneOf(['marketing']),
    description:
      '`marketing` wraps a marketing template in the branded layout with footer, postal address and unsubscribe ' +
      'line. It has no effect on the sends of a template that is not marketing; a mail that asks to confirm a sign-up wears the layout by itself.',
  }),
  is_own: shown(t.Boolean({ description: 'The words of one broadcast or step.' })),
  has_draft: shown(t.Boolean({ description: 'Somebody has written what is not published.' })),
  created_at: moment(),
  updated_at: moment(),
};
const BODIES = {
  body_html: t.String({ description: 'This or body_text, or both.' }),
  body_text: t.String(),
  body_markdown: t.String({
    description:
      'In place of both bodies, which are made from it: CommonMark with tables. Raw HTML, and links that lead neither ' +
      'to http, https or mailto nor to a placeholder, are shown as text. Sending a body later ends it.',
  }),
};
/** As much of a mail as is written yet; half a sentence is one, too. */
const template_draft = named(
  'TemplateDraft',
  Object.assign(
    changesOf({
      subject: text({ max: MAX_SUBJECT_CHARS }),
      preheader: text({
        max: MAX_PREHEADER_CHARS,
        description: 'Of the step or broadcast whose words these are.',
      }),
      ...nullables({ ...BODIES, variables: SUMMARY_FIELDS.variables.shape }),
    }),
    { additionalProperties: false },
  ),
);
export type TemplateDraft = Static<typeof template_draft>;
export const FIELDS = {
  ...SUMMARY_FIELDS,
  body_html: optional(null, BODIES.body_html),
  body_text: optional(null, BODIES.body_text),
  body_markdown: optional(null, BODIES.body_markdown, {
    stored: t.String({ description: 'What both bodies were made from; null where they were not.' }),
  }),
  draft: optional(
    null,
    {
      ...template_draft,
      description:
        'What is being written, whole: kept beside the template, judged by its length alone, and in no mail. To publish it send ' +
        'its fields as the template’s own, with `draft` null.',
    },
    { stored: template_draft },
  ),
};
const { draft: _draft, ...FIELDS_AT_FIRST } = FIELDS;
const NEW_FIELDS = {
  ...FIELDS_AT_FIRST,
  slug: preset(
    '',
    text({
      min: 1,
      max: MAX_NAME_CHARS,
      description: 'Letters, digits, dashes and underscores. Made from the name unless given; never changes.',
    }),
  ),
  is_own: preset(
    false,
    t.Boolean({
      description:
        'For good. The words of one broadcast or step: the list leaves them out, a copy of the broadcast or sequence has its own, ' +
        'and a day after nothing names them any more they are deleted. Needs `is_marketing`.',
    }),
  ),
};
export type TemplateFields = Values<typeof FIELDS>;
/** What a request gives of a template: an absent field stays, null clears. */
export type TemplateChanges = Partial<Changes<typeof FIELDS>>;
export type TemplateListItem = RecordOfFields<typeof SUMMARY_FIELDS>;
export type TemplateRecord = RecordOfFields<typeof FIELDS>;

/** Of which some stand for the others. */
export const BODY_FIELDS = ['body_html', 'body_text', 'body_markdown'] as const;

export const newTemplate = named('NewTemplate', creationOf(NEW_FIELDS));
export const templateChanges = named('TemplateChanges', changesOfFields(FIELDS));
export const templateRecord = named('Template', recordOf(FIELDS));
export const templateSummaries = t.Array(named('TemplateSummary', recordOf(SUMMARY_FIELDS)));
export const templateCategories = t.Array(t.String());

const { name, subject, category, description, variables, is_marketing, layout } = FIELDS;
/** The parts that a mail is written of. Anything but a body may be missing while it is written. */
export const draft_fields = {
  subject: t.Optional(text({ max: MAX_SUBJECT_CHARS, description: 'May hold placeholders.' })),
  ...optionals({
    body_html: FIELDS.body_html.shape,
    body_text: FIELDS.body_text.shape,
    body_markdown: FIELDS.body_markdown.shape,
    layout: layout.shape,
    is_marketing: t.Boolean(),
  }),
  declared: t.Optional({ ...variables.shape, description: "As a template's `variables`." }),
};
/** What stands above the body in a template's file. What it leaves out stays as it is. */
export const frontMatter = changesOfFields({
  name,
  slug: NEW_FIELDS.slug,
  subject,
  category,
  description,
  is_marketing,
  layout,
  variables,
});

export const templatePreview = named(
  'TemplatePreview',
  t.Object({
    subject: t.String(),
    body_html: nullable(t.String()),
    body_text: nullable(t.String()),
    missing: t.Array(t.String(), { description: 'Placeholders and required variables without a value.' }),
    invalid: t.Array(t.String(), {
      description: 'Placeholders whose value is an object, an array or a number too large to be exact.',
    }),
  }),
);
