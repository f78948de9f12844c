/** Changes what a template is, besides its words. */
import { useState } from 'preact/hooks';
import type { NewTemplate, Template, TemplateChanges } from '../../api.generated.ts';
import { area, CheckField, choice, Fields, text } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';

/** Categories of templates. The compiler complains when the API gets another one. */
export type Category = NewTemplate['category'];

export const CATEGORIES: Readonly<Record<Category, string>> = {
  transactional: 'Transactional',
  marketing: 'Marketing',
  welcome: 'Welcome',
  opt_in: 'Opt-in',
  notification: 'Notification',
  receipt: 'Receipt',
  other: 'Other',
};

const FIELDS = {
  name: text('Name'),
  category: choice('Category', CATEGORIES),
  description: area('Description', { rows: 2 }),
};

export function TemplateAbout(props: { of: Template; onSave(changes: TemplateChanges): Promise<unknown> }) {
  const { of, onSave } = props;
  const [is_marketing, setMarketing] = useState(of.is_marketing);
  const save = async (entered: Entered): Promise<void> => {
    await onSave({
      ...entered.read(FIELDS),
      is_marketing,
      layout: is_marketing && entered.flag('layout') ? 'marketing' : null,
    });
    toast('The template is saved');
  };
  return (
    <Panel title="About the template">
      <Form submit="Save" onSubmit={save}>
        <Fields fields={FIELDS} of={of} />
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
