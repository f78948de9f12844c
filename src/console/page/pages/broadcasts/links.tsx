/** Where the links of a broadcast's mail lead, and who followed them. */

import type { Broadcast } from '../../api.generated.ts';
import { Table } from '../../components/data-table.tsx';
import { Panel } from '../../components/page.tsx';
import { Count, tellShare } from '../../components/quantity.tsx';

export function Links({ of: { links, stats } }: { of: Broadcast }) {
  if (links.length === 0) return null;
  return (
    <Panel flush title="Links" lead="Scanners of mail programs are not counted.">
      <Table
        label="Links"
        rows={links.toSorted((a, b) => b.people - a.people)}
        keyOf={({ url }) => url}
        columns={[
          { title: 'Link', cell: ({ url }) => <span class="any-break">{url}</span> },
          { title: 'People', is_number: true, cell: ({ people }) => <Count of={people} /> },
          {
            title: 'Of those who got it',
            is_number: true,
            cell: ({ people }) => tellShare(people, stats.sent) || '—',
          },
          { title: 'Clicks', is_number: true, cell: ({ clicks }) => <Count of={clicks} /> },
        ]}
      />
    </Panel>
  );
}
