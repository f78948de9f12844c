/** Where the links of a broadcast's mail lead, and who followed them. */
import type { Broadcast } from '../../api.generated.ts';
import { Panel } from '../../components/page.tsx';
import { Count, tellShare } from '../../components/quantity.tsx';

export function Links({ of: { links, stats } }: { of: Broadcast }) {
  if (links.length === 0) return null;
  const sorted = links.toSorted((a, b) => b.people - a.people);
  return (
    <Panel flush title="Links" lead="Scanners of mail programs are not counted.">
      <div class="table-wrap">
        <table class="table-cards" aria-label="Links">
          <thead>
            <tr>
              <th scope="col">Link</th>
              <th scope="col" class="number">
                People
              </th>
              <th scope="col" class="number">
                Of those who got it
              </th>
              <th scope="col" class="number">
                Clicks
              </th>
            </tr>
          </thead>
          <tbody>
            {sorted.map(({ url, people, clicks }) => (
              <tr key={url}>
                <td data-label="Link" class="any-break">
                  <span>{url}</span>
                </td>
                <td data-label="People" class="number">
                  <Count of={people} />
                </td>
                <td data-label="Of those who got it" class="number">
                  {tellShare(people, stats.sent) || '—'}
                </td>
                <td data-label="Clicks" class="number">
                  <Count of={clicks} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
