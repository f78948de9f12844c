/** How a template looks while it is written: rendered by Satchel itself, with sample values. */
import { useState } from 'preact/hooks';
import { ErrorBox } from '../../components/error-box.tsx';
import { MailView } from '../../components/mail-view.tsx';
import { Panel } from '../../components/panel.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useLoad } from '../../use-load.ts';
import { useRested } from '../../use-rested.ts';
import { type Draft, sentVariables } from './draft.ts';
import { mergeFieldsOf, nestValues } from './merge-fields.ts';
import type { TemplatePath } from './template-path.ts';

const SAMPLES = new Map(
  Object.entries({
    first_name: 'Ann',
    last_name: 'Example',
    name: 'Ann Example',
    email: 'ann@example.org',
  }),
);

export function Preview({ path, draft }: { path: TemplatePath; draft: Draft }) {
  const [samples, setSamples] = useState<ReadonlyMap<string, string>>(SAMPLES);
  const fields = mergeFieldsOf(draft);
  const sampleOf = (name: string): string => samples.get(name) ?? `[${name}]`;
  const { subject, body_markdown, body_html, body_text, variables, layout } = draft;
  const bodies = body_markdown === null ? { body_html, body_text } : { body_markdown };
  const is_empty = !Object.values(bodies).some((body) => body?.trim());
  const asked = useRested({
    variables: nestValues(fields.map(({ name }) => [name, sampleOf(name)] as const)),
    // A field without a name is one that is just being declared.
    changes: {
      subject,
      ...bodies,
      layout,
      variables: sentVariables(variables.filter(({ name }) => name)),
    },
  });
  const load = useLoad(
    'POST /projects/{project}/email-templates/{slug}/preview',
    is_empty ? null : { path, body: asked },
  );
  const { data } = load;
  return (
    <Panel title="Preview" lead={data?.subject}>
      <div class="stack mail-view">
        {load.error && <ErrorBox error={load.error} />}
        {is_empty && <p class="muted">There is nothing to show yet: write what it says.</p>}
        {data && !is_empty && (
          <>
            {data.missing.length > 0 && (
              <p class="notice warn">No value for {data.missing.join(', ')}: a send would be refused.</p>
            )}
            <MailView
              title="The template as its readers see it"
              html={data.body_html}
              text={data.body_text}
            />
          </>
        )}
        {fields.length > 0 && (
          <fieldset class="samples">
            <legend class="field-label">Sample values</legend>
            {fields.map(({ name, description }) => (
              <TextField
                key={name}
                name={`sample.${name}`}
                label={name}
                hint={description}
                value={sampleOf(name)}
                onInput={(value) => setSamples((all) => new Map([...all, [name, value]]))}
              />
            ))}
          </fieldset>
        )}
      </div>
    </Panel>
  );
}
