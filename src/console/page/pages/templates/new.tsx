/** Making a template: its name and kind, with a text to begin with. The rest is the editor's. */
import { call } from '../../api.ts';
import { CheckField } from '../../components/check-field.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { CATEGORY_CHOICES, readCategory } from './categories.ts';
import { starterOf } from './starter.ts';

export default function NewTemplatePage({ params }: PageProps<'project'>) {
  const list = to`/projects/${params.project}/templates`;
  const create = async (entered: Entered): Promise<void> => {
    const slug = entered.text('slug');
    const is_marketing = entered.flag('is_marketing');
    const template = await call('POST /projects/{project}/email-templates', {
      path: params,
      body: {
        name: entered.text('name'),
        category: readCategory(entered.text('category')),
        subject: entered.text('subject'),
        ...(slug && { slug }),
        ...(is_marketing && { is_marketing, layout: 'marketing' }),
        ...starterOf(entered.text('written_in'), is_marketing),
      },
    });
    toast(`Template ${template.name} is made`);
    navigate(to`/projects/${params.project}/templates/${template.slug}`);
  };
  return (
    <>
      <PageHeader title="New template" back={{ href: hrefOf(list), label: 'Templates' }} />
      <Panel>
        <Form submit="Create the template" onSubmit={create} onCancel={() => navigate(list)}>
          <TextField name="name" label="Name" placeholder="Order shipped" is_focused />
          <TextField
            name="slug"
            label="Slug"
            hint="What apps call it by; it never changes. Empty: made from the name."
            is_mono
          />
          <SelectField name="category" label="Category" choices={CATEGORY_CHOICES} />
          <TextField
            name="subject"
            label="Subject"
            placeholder="Order {{ order_id }} is on its way"
            hint="{{ name }} is a field that each send fills in."
          />
          <SelectField
            name="written_in"
            label="Written in"
            choices={[
              ['html', 'HTML and text'],
              ['markdown', 'Markdown'],
            ]}
            hint="It can be changed later."
          />
          <CheckField
            name="is_marketing"
            label="For email marketing"
            hint="Sent by sequences and broadcasts only, with the layout of the project, its postal address and a link to unsubscribe."
          />
        </Form>
      </Panel>
    </>
  );
}
