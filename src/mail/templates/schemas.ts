/** Shapes of what clients send and get of saved templates. */
import {
  MAX_DESCRIPTION_CHARS,
  MAX_NAME_CHARS,
  MAX_PREHEADER_CHARS,
  MAX_SUBJECT_CHARS,
  MAX_TEMPLATE_VARIABLES,
} from '../../limits.ts';
import {
  changesOf,
  dateTime,
  named,
  nullable,
  nullables,
  oneOf,
  optionals,
  type Static,
  t,
  text,
} from '../../platform/http/schema.ts';

/** A declared placeholder, as it is stored. */
export interface TemplateVariable {
  name: string;
  description: string | null;
  required: boolean;
}

/** Decision: the fixed categories. They sort; only `is_marketing` makes a template a marketing one. */
export const TEMPLATE_CATEGORIES = [
  'transactional',
  'marketing',
  'welcome',
  'opt_in',
  'notification',
  'receipt',
  'other',
] as const;
const TEMPLATE_LAYOUTS = ['marketing'] as const;

const variables = t.Array(
  t.Object({
    name: text({ min: 1, max: MAX_NAME_CHARS, description: 'As in its placeholder: `{{ name }}`.' }),
    description: t.Optional(text({ max: MAX_DESCRIPTION_CHARS })),
    required: t.Optional(
      t.Boolean({ description: 'Default false: without a value the placeholder is empty.' }),
    ),
  }),
  { maxItems: MAX_TEMPLATE_VARIABLES },
);

const name = text({ min: 1, max: MAX_NAME_CHARS });
const slug = text({
  min: 1,
  max: MAX_NAME_CHARS,
  description: 'Letters, digits, dashes and underscores. Made from the name unless given; never changes.',
});
const category = oneOf(TEMPLATE_CATEGORIES);
const subject = text({ min: 1, max: MAX_SUBJECT_CHARS, description: 'May hold placeholders.' });

const optional_fields = {
  body_html: t.String({ description: 'This or body_text, or both.' }),
  body_text: t.String(),
  body_markdown: t.String({
    description:
      'In place of both bodies, which are made from it: CommonMark with tables. Raw HTML, and links that lead neither ' +
      'to http, https or mailto nor to a placeholder, are shown as text. Sending a body later ends it.',
  }),
  description: text({ max: MAX_DESCRIPTION_CHARS }),
  variables: variables,
  is_active: t.Boolean({ description: 'Default true.' }),
  is_marketing: t.Boolean({ description: 'Default false. True needs `can_manage_email_marketing`.' }),
  layout: {
    ...oneOf(TEMPLATE_LAYOUTS),
    description:
      '`marketing` wraps a marketing template in the branded layout with footer, postal address and unsubscribe ' +
      'line. It has no effect on the sends of a template that is not marketing.',
  },
};

/** Of which some stand for the others. */
export const BODY_FIELDS = ['body_html', 'body_text', 'body_markdown'] as const;

export const newTemplate = named(
  'NewTemplate',
  t.Object({
    name,
    slug: t.Optional(slug),
    category,
    subject,
    ...optionals(optional_fields),
    is_own: t.Optional(
      t.Boolean({
        description:
          'Default false; for good. The words of one broadcast or step: the list leaves them out, a copy of the broadcast or ' +
          'sequence has its own, and a day after nothing names them any more they are deleted. Needs `is_marketing`.',
      }),
    ),
  }),
);

const { description, is_marketing, layout, body_html, body_text, body_markdown } = optional_fields;

/** As much of a mail as is written yet; a template that is half a sentence is one, too. */
const template_draft = named(
  'TemplateDraft',
  t.Object(
    {
      ...changesOf({
        subject: text({ max: MAX_SUBJECT_CHARS }),
        preheader: text({
          max: MAX_PREHEADER_CHARS,
          description: 'Of the step or broadcast whose words these are.',
        }),
        ...nullables({ body_html, body_text, body_markdown, variables }),
      }).properties,
    },
    { additionalProperties: false },
  ),
);
export type TemplateDraft = Static<typeof template_draft>;

export const templateChanges = named(
  'TemplateChanges',
  changesOf({
    name,
    category,
    subject,
    ...nullables(optional_fields),
    draft: {
      ...nullable(template_draft),
      description:
        'What is being written, whole: kept beside the template, judged by its length alone, and in no mail. To publish it send its ' +
        'fields as the template’s own, with `draft` null.',
    },
  }),
);

/** What a mail is written of. Anything but a body may be missing while it is. */
export const draft_fields = {
  subject: t.Optional(text({ max: MAX_SUBJECT_CHARS, description: 'May hold placeholders.' })),
  ...optionals({ body_html, body_text, body_markdown, layout, is_marketing: t.Boolean() }),
  declared: t.Optional({ ...variables, description: "As a template's `variables`." }),
};
/** What stands above the body in a template's file. What it leaves out stays as it is. */
export const frontMatter = changesOf({
  name,
  slug,
  subject,
  category,
  ...nullables({ description, is_marketing, layout, variables }),
});

const templateSummary = named(
  'TemplateSummary',
  t.Object({
    id: t.String(),
    slug: t.String(),
    name: t.String(),
    category,
    subject: t.String(),
    description: nullable(t.String()),
    variables: t.Array(
      t.Object({ name: t.String(), description: nullable(t.String()), required: t.Boolean() }),
    ),
    is_active: t.Boolean(),
    is_marketing: t.Boolean(),
    layout: nullable(oneOf(TEMPLATE_LAYOUTS)),
    is_own: t.Boolean({ description: 'The words of one broadcast or step.' }),
    created_at: dateTime(),
    updated_at: dateTime(),
  }),
);
export const templateSummaries = t.Array(templateSummary);
export const templateCategories = t.Array(t.String());
export const templateRecord = named(
  'Template',
  t.Object({
    ...templateSummary.properties,
    body_html: nullable(t.String()),
    body_text: nullable(t.String()),
    body_markdown: nullable(
      t.String({ description: 'What both bodies were made from; null where they were not.' }),
    ),
    draft: nullable(template_draft),
  }),
);
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
