/** The mailboxes: addresses that mail goes out from, and how each is. */
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Badge } from '../../components/status.tsx';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-load.ts';
import { wayToSetUp } from '../set-up-sending/next.ts';
import { MailboxState, UsedToday } from './mailbox-state.tsx';

function AddMailbox() {
  return (
    <ButtonLink kind="primary" href={hrefOf('/mailboxes/new')}>
      <Icon name="plus" />
      Add a mailbox
    </ButtonLink>
  );
}

export default function MailboxesPage() {
  const list = useList('GET /mailboxes', {});
  return (
    <>
      <PageHeader
        title="Mailboxes"
        lead="Addresses of your sending domains that mail goes out from, each with the relay that takes its mail. Where one cannot send, another one does."
        actions={<AddMailbox />}
      />
      <DataTable
        label="Mailboxes"
        list={list}
        keyOf={(mailbox) => mailbox.id}
        href={(mailbox) => hrefOf(to`/mailboxes/${mailbox.address}`)}
        columns={[
          { title: 'Address', cell: (mailbox) => mailbox.address },
          { title: 'State', cell: (mailbox) => <MailboxState of={mailbox} /> },
          { title: 'Used today', is_number: true, cell: (mailbox) => <UsedToday of={mailbox} /> },
          {
            title: 'For',
            cell: (mailbox) => (
              <span class="badges">
                {mailbox.for.map((purpose) => (
                  <Badge key={purpose}>{purpose}</Badge>
                ))}
              </span>
            ),
          },
          {
            title: 'Relay',
            cell: (mailbox) =>
              mailbox.relay === null ? (
                <span class="muted">none: what is sent is kept</span>
              ) : (
                <code>{hostOf(mailbox.relay)}</code>
              ),
          },
        ]}
        empty={
          <Empty
            drawing="mail"
            title="No mailbox yet"
            command="satchel mailbox add hello@mail.example.com --smtp -"
          >
            <p>
              No mail goes out without one. It is an address of a{' '}
              <a href={hrefOf('/sending-domains')}>sending domain</a>, with the relay that takes its mail; or
              one that keeps what is sent, for trying things.
            </p>
            <ButtonLink kind="primary" href={hrefOf(wayToSetUp('/mailboxes'))}>
              Set up sending
            </ButtonLink>
          </Empty>
        }
      />
    </>
  );
}

/** Of `smtps://user:***@host:465?tls=required`, what tells one relay from another. */
function hostOf(relay: string): string {
  return relay.replace(/^\w+:\/\/(?:[^/]*@)?/, '').replace(/\?.*$/, '');
}
