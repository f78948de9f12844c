/** Making a template: its name and kind, with a text to begin with. The rest is the editor's. */
import { call } from '../../api.ts';
import { check, choice, Fields, optional, text } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { PageHeader, Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { CATEGORIES } from './about.tsx';
import { starterOf } from './starter.ts';

const FIELDS = {
  name: text('Name', { placeholder: 'Order shipped' }),
  slug: optional('Slug', {
    hint: 'What apps call it by; it never changes. Empty: made from the name.',
    is_mono: true,
  }),
  category: choice('Category', CATEGORIES),
  subject: text('Subject', {
    placeholder: 'Order {{ order_id }} is on its way',
    hint: '{{ name }} is a field that each send fills in.',
  }),
  written_in: choice(
    'Written in',
    { html: 'HTML and text', markdown: 'Markdown' },
    { hint: 'It can be changed later.' },
  ),
  is_marketing: check('For email marketing', {
    hint: 'Sent by sequences and broadcasts only, with the layout of the project, its postal address and a link to unsubscribe.',
  }),
};

export default function NewTemplatePage({ params }: PageProps<'project'>) {
  const list = to`/projects/${params.project}/templates`;
  const create = async (entered: Entered): Promise<void> => {
    const { written_in, is_marketing, ...rest } = entered.given(FIELDS);
    const template = await call('POST /projects/{project}/email-templates', {
      path: params,
      body: {
        ...rest,
        ...(is_marketing && { is_marketing, layout: 'marketing' }),
        ...starterOf(written_in, is_marketing),
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
          <Fields fields={FIELDS} is_focused />
        </Form>
      </Panel>
    </>
  );
}
