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

const PARTS = { html: 'HTML', text: 'Text', fields: 'Fields', about: 'About' } as const;
type Part = keyof typeof PARTS;

export function TemplateFields({ draft, onChange }: Props) {
  const [part, setPart] = useState<Part>(
    draft.body_html === null && draft.body_text !== null ? 'text' : 'html',
  );
  return (
    <>
      <TextField
        name="subject"
        label="Subject"
        value={draft.subject}
        onInput={(subject) => onChange({ subject })}
      />
      <div class="stack mail-view">
        <fieldset class="choice" aria-label="Part of the template">
          {Object.entries(PARTS).map(([name, title]) => (
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
        {part === 'html' && (
          <Body
            key="html"
            language="html"
            draft={draft}
            value={draft.body_html}
            onChange={(body_html) => onChange({ body_html })}
          />
        )}
        {part === 'text' && (
          <Body
            key="text"
            language="text"
            draft={draft}
            value={draft.body_text}
            onChange={(body_text) => onChange({ body_text })}
          />
        )}
        {part === 'fields' && <VariableFields draft={draft} onChange={onChange} />}
        {part === 'about' && <About draft={draft} onChange={onChange} />}
      </div>
    </>
  );
}

function Body(props: {
  language: 'html' | 'text';
  draft: Draft;
  value: string | null;
  onChange(value: string | null): void;
}) {
  const { language, draft, value, onChange } = props;
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
        label={language === 'html' ? 'HTML of the template' : 'Text of the template'}
        language={language}
        value={value ?? ''}
        onChange={(text) => onChange(text || null)}
        onReady={(ready) => {
          insert.current = ready;
        }}
      />
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
        label="For sequences"
        hint="Email marketing: sent by sequences only, never by itself."
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
