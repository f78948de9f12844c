/** Shapes of a mail that is being written, and of what is shown of it. */
import { MAX_PREHEADER_CHARS } from '../../limits.ts';
import { draft_fields } from '../../mail/templates/service.ts';
import { emailAddress, named, nullable, oneOf, t, text, ulid } from '../../platform/http/schema.ts';
import { MAX_PREVIEW_PROBLEMS, PREVIEW_PROBLEMS } from './problems.ts';

const fields = t.Object({
  ...draft_fields,
  variables: t.Optional(
    t.Record(t.String(), t.Unknown(), { description: 'Values of placeholders, by name.' }),
  ),
  preheader: t.Optional(nullable(text({ max: MAX_PREHEADER_CHARS, description: 'Of a marketing mail.' }))),
  contact: t.Optional(t.String({ description: 'The id of a contact whose values are merged in.' })),
  sample: t.Optional(
    t.Boolean({
      description:
        'Sample values where `variables` has none. A marketing mail without `contact` has those of a contact anyway.',
    }),
  ),
});
export const draft = named('DraftPreviewRequest', fields);
export const draft_test = named('DraftTestRequest', t.Object({ ...fields.properties, to: emailAddress() }));
export const draft_test_sent = t.Object({ email_id: ulid(), job_id: ulid() });

export const preview = named(
  'DraftPreview',
  t.Object({
    subject: t.String(),
    body_html: nullable(t.String()),
    body_text: nullable(t.String()),
    preheader: nullable(t.String({ description: 'Null where there is none, and in a mail without HTML.' })),
    problems: t.Array(t.Object({ code: oneOf(PREVIEW_PROBLEMS), message: t.String() }), {
      description: `${MAX_PREVIEW_PROBLEMS} at most.`,
    }),
  }),
);
