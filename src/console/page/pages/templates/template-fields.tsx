/** What is written of a template: its texts in editors, the fields that are merged in, and what it is. */
import { useRef, useState } from 'preact/hooks';
import { CheckField } from '../../components/check-field.tsx';
import { CodeEditor } from '../../components/code-editor.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextAreaField } from '../../components/text-area-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { CATEGORY_CHOICES, readCategory } from './categories.ts';
import type { Draft } from './draft.ts';
import { mergeFieldsOf } from './merge-fields.ts';
import { VariableFields } from './variable-fields.tsx';

interface Props {
  /** As it was when the fields were first shown, and as it is. */
  draft: Draft;
  onChange(changes: Partial<Draft>): void;
}

const PARTS = { markdown: 'Markdown', html: 'HTML', text: 'Text', fields: 'Fields', about: 'About' } as const;
type Part = keyof typeof PARTS;
type Written = Extract<Part, 'markdown' | 'html' | 'text'>;
const BODIES = { markdown: 'body_markdown', html: 'body_html', text: 'body_text' } as const;

export function TemplateFields({ draft, onChange }: Props) {
  const [part, setPart] = useState<Part>(firstPart(draft));
  const is_markdown = draft.body_markdown !== null;
  const writeIn = (language: string): void => {
    const changed = { ...draft, body_markdown: language === 'markdown' ? (draft.body_text ?? '') : null };
    onChange({ body_markdown: changed.body_markdown });
    setPart(firstPart(changed));
  };
  const isShown = (name: string): boolean =>
    is_markdown ? !['html', 'text'].includes(name) : name !== 'markdown';
  return (
    <>
      <TextField
        name="subject"
        label="Subject"
        value={draft.subject}
        onInput={(subject) => onChange({ subject })}
      />
      <SelectField
        name="written_in"
        label="Written in"
        choices={[
          ['markdown', 'Markdown'],
          ['html', 'HTML and text'],
        ]}
        value={is_markdown ? 'markdown' : 'html'}
        onChange={writeIn}
        hint={is_markdown ? 'Its HTML and text are made from it, in place of any there are.' : undefined}
      />
      <div class="stack mail-view">
        <fieldset class="choice" aria-label="Part of the template">
          {Object.entries(PARTS)
            .filter(([name]) => isShown(name))
            .map(([name, title]) => (
              <button
                key={name}
                type="button"
                aria-pressed={name === part}
                onClick={() => setPart(name as Part)}
              >
                {title}
              </button>
            ))}
        </fieldset>
        {part !== 'fields' && part !== 'about' && (
          <Body key={part} language={part} draft={draft} onChange={onChange} />
        )}
        {part === 'fields' && <VariableFields draft={draft} onChange={onChange} />}
        {part === 'about' && <About draft={draft} onChange={onChange} />}
      </div>
    </>
  );
}

/** Where the writing goes on. */
function firstPart({ body_markdown, body_html, body_text }: Draft): Part {
  if (body_markdown !== null) return 'markdown';
  return body_html === null && body_text !== null ? 'text' : 'html';
}

function Body({ language, draft, onChange }: Props & { language: Written }) {
  const field = BODIES[language];
  const insert = useRef<((text: string) => void) | null>(null);
  const fields = mergeFieldsOf(draft);
  return (
    <>
      {fields.length > 0 && (
        <div class="row merge-fields">
          <span class="muted fine">Insert</span>
          {fields.map(({ name, description }) => (
            <button
              key={name}
              type="button"
              class="button small"
              title={description ?? undefined}
              onClick={() => insert.current?.(`{{ ${name} }}`)}
            >
              {name}
            </button>
          ))}
        </div>
      )}
      <CodeEditor
        label={`${PARTS[language]} of the template`}
        language={language === 'html' ? 'html' : 'text'}
        value={draft[field] ?? ''}
        // Markdown that is empty is Markdown still.
        onChange={(text) => onChange({ [field]: language === 'markdown' ? text : text || null })}
        onReady={(ready) => {
          insert.current = ready;
        }}
      />
      {language === 'markdown' && (
        <p class="muted fine">
          CommonMark with tables. HTML in it is shown as text, and so is a link that leads neither to a
          website, a mail address nor a placeholder.
        </p>
      )}
      {language === 'text' && (
        <p class="muted fine">For programs that show no HTML. Empty: the mail has HTML alone.</p>
      )}
    </>
  );
}

function About({ draft, onChange }: Props) {
  return (
    <>
      <TextField name="name" label="Name" value={draft.name} onInput={(name) => onChange({ name })} />
      <SelectField
        name="category"
        label="Category"
        choices={CATEGORY_CHOICES}
        value={draft.category}
        onChange={(category) => onChange({ category: readCategory(category) })}
      />
      <TextAreaField
        name="description"
        label="Description"
        rows={3}
        value={draft.description}
        onInput={(description) => onChange({ description: description.trim() || null })}
      />
      <CheckField
        name="is_marketing"
        label="For email marketing"
        hint="Sent by sequences and broadcasts only, never by itself."
        is_checked={draft.is_marketing}
        onChange={(is_marketing) => onChange({ is_marketing })}
      />
      {draft.is_marketing && (
        <CheckField
          name="layout"
          label="In the layout of the project"
          hint="With its logo, postal address and a link to unsubscribe. Without it, the template must have those itself."
          is_checked={draft.layout === 'marketing'}
          onChange={(is_wanted) => onChange({ layout: is_wanted ? 'marketing' : null })}
        />
      )}
    </>
  );
}
