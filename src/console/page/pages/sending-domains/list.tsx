/** The domains that mail goes out from. */
import { ButtonLink } from '../../components/button-link.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, PageHeader } from '../../components/page.tsx';
import { Count } from '../../components/quantity.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { useList } from '../../use-load.ts';
import { wayToSetUp } from '../set-up-sending/next.ts';
import { DomainState } from './domain-state.tsx';

function AddDomain() {
  return (
    <ButtonLink kind="primary" href={hrefOf('/sending-domains/new')}>
      <Icon name="plus" />
      Add a domain
    </ButtonLink>
  );
}

export default function SendingDomainsPage() {
  const list = useList('GET /sending-domains', {});
  return (
    <>
      <PageHeader
        title="Sending domains"
        lead="Domains of yours that mail goes out from. Records in their DNS tell receivers that it is really yours."
        actions={<AddDomain />}
      />
      <DataTable
        label="Sending domains"
        list={list}
        keyOf={(domain) => domain.name}
        href={(domain) => hrefOf(to`/sending-domains/${domain.name}`)}
        columns={[
          { title: 'Domain', cell: (domain) => domain.name },
          { title: 'State', cell: (domain) => <DomainState of={domain} /> },
          { title: 'Verified', cell: (domain) => <Time at={domain.verified_at} /> },
          { title: 'Mailboxes', is_number: true, cell: (domain) => <Count of={domain.mailboxes} /> },
          { title: 'Added', cell: (domain) => <Time at={domain.created_at} /> },
        ]}
        empty={
          <Empty drawing="mail" title="No sending domain yet" command="satchel domain add mail.example.com">
            <p>
              No mail goes out without one. Add a domain whose DNS you can change: you get the records to
              publish, and then give it a mailbox.
            </p>
            <ButtonLink kind="primary" href={hrefOf(wayToSetUp('/sending-domains'))}>
              Set up sending
            </ButtonLink>
          </Empty>
        }
      />
    </>
  );
}
