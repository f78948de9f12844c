/** The mail of a broadcast: one that is written here and becomes a template, or a marketing template that is there. */
import { useState } from 'preact/hooks';
import { ApiError, call } from '../../api.ts';
import type { Entered } from '../../components/form.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextAreaField } from '../../components/text-area-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { VariablesField } from '../sequences/variables-field.tsx';
import { starterOf } from '../templates/starter.ts';
import type { DraftProps } from './broadcast-fields.tsx';

/** The choice of writing one: no slug has this character. */
export const OWN = '+';
const MARKDOWN = 'markdown';

export function MailFields({ project, draft, onChange }: DraftProps) {
  const { template, variables } = draft;
  const load = useLoad('GET /projects/{project}/email-templates', { path: { project } });
  // Of those that are for marketing; one that was chosen before stays to be seen.
  const usable = (load.data?.data ?? []).filter(
    ({ slug, is_marketing, is_active }) => (is_marketing && is_active) || slug === template,
  );
  const is_own = template === OWN;
  const is_known = is_own || usable.some(({ slug }) => slug === template);
  return (
    <>
      <SelectField
        name="template"
        label="Mail"
        value={template}
        onChange={(chosen) => onChange({ template: chosen })}
        choices={[
          [OWN, 'Write it here'],
          ...(is_known ? [] : [[template, template] as const]),
          ...usable.map(({ slug, name }) => [slug, `Template: ${name}`] as const),
        ]}
        hint={
          !is_own && (
            <>
              What it says is changed where it stands:{' '}
              <a href={hrefOf(to`/projects/${project}/templates/${template}`)}>open the template</a>.
            </>
          )
        }
      />
      {is_own ? (
        <OwnMail />
      ) : (
        <VariablesField
          name="variables"
          of={variables}
          template={usable.find(({ slug }) => slug === template)}
          onChange={(changed) => onChange({ variables: changed })}
        />
      )}
    </>
  );
}

function OwnMail() {
  const [language, setLanguage] = useState(MARKDOWN);
  const starter = { ...starterOf(MARKDOWN, true), ...starterOf('html', true) };
  return (
    <>
      <TextField name="subject" label="Subject" placeholder="What is new in June, {{ first_name }}" />
      <SelectField
        name="language"
        label="Written in"
        value={language}
        onChange={setLanguage}
        choices={[
          [MARKDOWN, 'Markdown'],
          ['html', 'HTML and text'],
        ]}
      />
      {language === MARKDOWN ? (
        <TextAreaField
          key="markdown"
          name="body_markdown"
          label="Text in Markdown"
          rows={14}
          placeholder={starter.body_markdown}
          hint="The layout of the project, with its postal address and the link to unsubscribe, comes around it. Once saved, you see it as its readers do."
          is_mono
        />
      ) : (
        <>
          <TextAreaField
            name="body_html"
            label="HTML"
            rows={14}
            placeholder={starter.body_html}
            hint="The layout of the project, with its postal address and the link to unsubscribe, comes around it. Once saved, you see it as its readers do."
            is_mono
          />
          <TextAreaField
            name="body_text"
            label="Text"
            rows={8}
            placeholder={starter.body_text}
            hint="For programs that show no HTML."
          />
        </>
      )}
    </>
  );
}

/** Saves what was written as a template, and returns its slug; null where nothing was written. Throws ApiError. */
export async function writeOwnMail(project: string, entered: Entered): Promise<string | null> {
  const names = entered.text('language') === MARKDOWN ? ['body_markdown'] : ['body_html', 'body_text'];
  const written = names.filter((name) => entered.text(name) !== '');
  if (written.length === 0 && entered.text('subject') === '') return null;
  if (written.length === 0) {
    const errors = { [names[0] ?? '']: ['Write what the mail says.'] };
    throw new ApiError(422, { message: 'The mail says nothing yet.', errors });
  }
  const { slug } = await call('POST /projects/{project}/email-templates', {
    path: { project },
    body: {
      name: entered.text('name'),
      category: 'marketing',
      subject: entered.text('subject'),
      is_marketing: true,
      layout: 'marketing',
      ...Object.fromEntries(written.map((name) => [name, entered.exact(name)])),
    },
  });
  return slug;
}
