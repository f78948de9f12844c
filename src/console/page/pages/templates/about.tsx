/** What a template is, besides its words. */
import { useState } from 'preact/hooks';
import type { Template, TemplateChanges } from '../../api.generated.ts';
import { CheckField } from '../../components/check-field.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/panel.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextAreaField } from '../../components/text-area-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import { CATEGORY_CHOICES, readCategory } from './categories.ts';

export function TemplateAbout(props: { of: Template; onSave(changes: TemplateChanges): Promise<unknown> }) {
  const { of, onSave } = props;
  const [is_marketing, setMarketing] = useState(of.is_marketing);
  const save = async (entered: Entered): Promise<void> => {
    await onSave({
      name: entered.text('name'),
      category: readCategory(entered.text('category')),
      description: entered.textOrNull('description'),
      is_marketing,
      layout: is_marketing && entered.flag('layout') ? 'marketing' : null,
    });
    toast('The template is saved');
  };
  return (
    <Panel title="About the template">
      <Form submit="Save" onSubmit={save}>
        <TextField name="name" label="Name" value={of.name} />
        <SelectField name="category" label="Category" choices={CATEGORY_CHOICES} value={of.category} />
        <TextAreaField name="description" label="Description" rows={2} value={of.description} />
        <CheckField
          name="is_marketing"
          label="For email marketing"
          hint="Sent by sequences and broadcasts only, never by itself."
          is_checked={is_marketing}
          onChange={setMarketing}
        />
        {is_marketing && (
          <CheckField
            name="layout"
            label="In the layout of the project"
            hint="With its logo, postal address and a link to unsubscribe. Without it, the template must have those itself."
            is_checked={of.layout === 'marketing'}
          />
        )}
      </Form>
    </Panel>
  );
}
