/** Fields for a mail's content: a template of the project with its values, or a text of its own. */
import { useState } from 'preact/hooks';
import { ErrorBox } from '../../components/error-box.tsx';
import { SelectField, TextAreaField } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { Skeleton } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useLoad } from '../../use-load.ts';
import { mergeFieldsOf, nestValues } from './merge-fields.ts';

export interface Content {
  template: string | null;
  variables: Readonly<Record<string, unknown>>;
  subject: string | null;
  body_html: string | null;
  body_text: string | null;
}

export function ContentFields({ project, of }: { project: string; of?: Content }) {
  const [template, setTemplate] = useState(of?.template ?? '');
  const load = useLoad('GET /projects/{project}/email-templates', { path: { project } });
  // Of those that are sent by themselves; one that was chosen before stays to be seen.
  const sendable = (load.data?.data ?? []).filter(
    ({ slug, is_marketing, is_active }) => (!is_marketing && is_active) || slug === of?.template,
  );
  return (
    <>
      <SelectField
        // The choices come later than the field.
        key={String(load.data !== null)}
        name="template"
        label="Content"
        value={template}
        onChange={setTemplate}
        choices={[
          ['', 'A text of its own'],
          // The present choice is offered before the others are loaded, so that whoever saves by then does not change it.
          ...(load.data || template === '' ? [] : [[template, `Template: ${template}`] as const]),
          ...sendable.map(({ slug, name }) => [slug, `Template: ${name}`] as const),
        ]}
      />
      {template === '' ? (
        <>
          <TextField name="subject" label="Subject" value={of?.subject} />
          <TextAreaField name="body_text" label="Text" rows={8} value={of?.body_text} />
          <TextAreaField
            name="body_html"
            label="HTML"
            rows={4}
            value={of?.body_html}
            hint="Optional beside the text. With placeholders and a preview: make it a template."
            is_mono
          />
        </>
      ) : (
        <ValueFields key={template} project={project} slug={template} values={of?.variables ?? {}} />
      )}
    </>
  );
}

function ValueFields(props: { project: string; slug: string; values: Readonly<Record<string, unknown>> }) {
  const { project, slug, values } = props;
  const load = useLoad('GET /projects/{project}/email-templates/{slug}', { path: { project, slug } });
  if (!load.data)
    return (
      <>
        {load.error && <ErrorBox error={load.error} retry={load.reload} />}
        <Skeleton lines={2} />
      </>
    );
  const fields = mergeFieldsOf(load.data);
  if (fields.length === 0) return <p class="muted">This template has no fields to fill in.</p>;
  return (
    <>
      {fields.map(({ name, description, is_required }) => (
        <TextField
          key={name}
          name={`variables.${name}`}
          label={is_required ? name : `${name} (optional)`}
          hint={description}
          value={valueAt(values, name)}
        />
      ))}
    </>
  );
}

function valueAt(values: Readonly<Record<string, unknown>>, name: string): string {
  let at: unknown = values;
  for (const part of name.split('.'))
    at = typeof at === 'object' && at !== null ? new Map(Object.entries(at)).get(part) : undefined;
  return at === undefined || at === null ? '' : String(at);
}

/** Reads what was entered, as a mail or a schedule takes it: what is not of this kind of content is null. */
export function contentOf(entered: Entered): Content {
  const template = entered.textOrNull('template');
  const is_own = template === null;
  return {
    template,
    variables: nestValues(
      entered
        .names('variables.')
        .map((name) => [name.slice('variables.'.length), entered.exact(name)] as const),
    ),
    subject: is_own ? entered.textOrNull('subject') : null,
    body_html: is_own ? entered.exact('body_html') || null : null,
    body_text: is_own ? entered.exact('body_text') || null : null,
  };
}
