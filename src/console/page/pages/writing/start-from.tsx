/** Beginning with what a template says: its words are copied, and both go their own ways from there. */
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { useLoad } from '../../use-load.ts';
import type { Writing } from './use-words.ts';
import { wordsOf } from './words.ts';

export function StartFrom({ project, writing }: { project: string; writing: Writing }) {
  const [is_asking, setAsking] = useState(false);
  const choices = useTemplateChoices(is_asking ? project : null);
  const close = (): void => setAsking(false);
  const copy = async (entered: Entered): Promise<void> => {
    const path = { project, slug: entered.text('template') };
    const template = await call('GET /projects/{project}/email-templates/{slug}', { path });
    const { preheader: _, ...words } = wordsOf(template, null);
    writing.replace(words);
    close();
  };
  return (
    <>
      <button type="button" class="button small" aria-haspopup="dialog" onClick={() => setAsking(true)}>
        Start from a template
      </button>
      {is_asking && (
        <Dialog title="Start from a template" onClose={close}>
          {choices.length === 0 ? (
            <p class="muted">The project has no template for email marketing.</p>
          ) : (
            <Form is_fleeting submit="Take its words" onSubmit={copy} onCancel={close}>
              <SelectField
                name="template"
                label="Template"
                choices={choices}
                hint="They are copied, and take the place of what is written here. The template stays as it is."
              />
            </Form>
          )}
        </Dialog>
      )}
    </>
  );
}

/** The templates that marketing mail may begin with; none where no project is given. */
export function useTemplateChoices(project: string | null): (readonly [slug: string, title: string])[] {
  const load = useLoad(
    'GET /projects/{project}/email-templates',
    project === null ? null : { path: { project } },
  );
  return (load.data?.data ?? [])
    .filter(({ is_marketing, is_active }) => is_marketing && is_active)
    .map(({ slug, name }) => [slug, name] as const);
}
