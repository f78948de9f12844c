/** Sending a mail by hand: now, or at a time. */
import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { Fields, type FormField, mapped, optional, words } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Advanced, Notice, PageHeader, Panel } from '../../components/page.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useAll } from '../../use-load.ts';
import { wayToSetUp } from '../set-up-sending/next.ts';
import { ContentFields, contentOf } from '../templates/content-fields.tsx';

/** None is nothing. */
const some = (label: string, hint: string, is_mono = false): FormField<string[] | null> =>
  mapped<string[] | null, string[]>(
    words(label, { hint, is_mono }),
    (all) => all ?? [],
    (all) => (all.length === 0 ? null : all),
  );

const fieldsOf = (mailboxes: readonly string[] = []) => ({
  to_name: optional('Name of the recipient'),
  from_name: optional('Name of the sender'),
  from: optional('From the mailbox', {
    placeholder: 'hello@shop.example.com',
    list: mailboxes,
    hint: 'It goes out from that mailbox or not at all. Empty: what the project sends from, with fallback.',
  }),
  reply_to: optional('Answers go to'),
  cc: some('Cc', 'Separated by commas.'),
  bcc: some('Bcc', 'Separated by commas.'),
  attachments: some('Attachments', 'Ids of files of this project, separated by commas.', true),
});

export default function NewEmailPage({ params }: PageProps<'project'>) {
  const list = to`/projects/${params.project}/emails`;
  const query = { project: params.project };
  const mailboxes = useAll('GET /mailboxes', may('can_administer') ? { query } : null);
  const send = async (entered: Entered): Promise<void> => {
    const { template, variables, subject, body_html, body_text } = contentOf(entered);
    const at = entered.text('scheduled_at');
    const { id } = await call('POST /projects/{project}/emails/send', {
      path: params,
      body: {
        to: entered.text('to'),
        ...(template === null ? { subject: subject ?? '' } : { template, variables }),
        ...(body_html !== null && { body_html }),
        ...(body_text !== null && { body_text }),
        ...entered.given(fieldsOf()),
        ...(at && { scheduled_at: new Date(at).toISOString() }),
      },
    });
    toast(at ? 'The mail is scheduled' : 'The mail is queued');
    navigate(to`/projects/${params.project}/emails/${id}`);
  };
  return (
    <>
      <PageHeader
        title="Send a mail"
        lead={
          <>
            A real mail, to one person, from a{' '}
            {may('can_administer') ? <a href={hrefOf('/mailboxes')}>mailbox</a> : 'mailbox'} of this Satchel.
            It stands in the log as any other.
          </>
        }
        back={{ href: hrefOf(list), label: 'Mail log' }}
      />
      {mailboxes.data?.length === 0 && (
        <Notice tone="warn">
          Nothing can go out yet: no mailbox sends for this project.{' '}
          <a href={hrefOf(wayToSetUp(`${list}/new`))}>Set up sending</a>
        </Notice>
      )}
      <Panel>
        <Form is_wide keep={list} submit="Send" onSubmit={send} onCancel={() => navigate(list)}>
          <TextField name="to" label="To" type="email" placeholder="ann@example.org" is_focused />
          <ContentFields project={params.project} />
          <TextField
            name="scheduled_at"
            label="Send at"
            type="datetime-local"
            hint="In your own time zone. Empty: now."
          />
          <Advanced title="Names, copies and attachments">
            <Fields fields={fieldsOf(mailboxes.data?.map(({ address }) => address))} />
          </Advanced>
        </Form>
      </Panel>
    </>
  );
}
