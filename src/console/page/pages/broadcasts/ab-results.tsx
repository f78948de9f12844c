/** The variants of an A/B test side by side, how likely each is the best, and the choice of one. */

import type { AbTest } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { Table } from '../../components/data-table.tsx';
import { Panel } from '../../components/page.tsx';
import { counted, tellShare } from '../../components/quantity.tsx';
import { Badge } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import type { BroadcastPartProps } from './part.tsx';

type Result = AbTest['results'][number];

/** Below it a difference may be chance: what statisticians call significant. */
const SURE = 0.95;

export function AbResults({ path, of, onChange }: BroadcastPartProps) {
  const { ab, status } = of;
  if (ab === null) return null;
  const choose = async (variant: string): Promise<void> => {
    await askFirst({
      title: `Send ${variant} to the rest?`,
      submit: `Send ${variant}`,
      told: <p>Whoever had no turn yet gets it. What has been sent stays as it was.</p>,
    });
    await call('POST /projects/{project}/email-broadcasts/{broadcast}/decide', { path, body: { variant } });
    onChange();
  };
  return (
    <Panel title="A/B test" lead={tellStanding(ab, status)} flush>
      <Table
        label="Variants"
        rows={ab.results}
        keyOf={({ name }) => name}
        columns={[
          {
            title: 'Variant',
            cell: ({ name }) => (
              <>
                <strong>{name}</strong> {ab.winner === name && <Badge>chosen</Badge>}
                <span class="cell-note">
                  {ab.variants.find((each) => each.name === name)?.subject ?? 'The subject of the mail'}
                </span>
              </>
            ),
          },
          {
            title: 'Sent',
            is_number: true,
            cell: ({ sent, untracked }) => (
              <>
                {sent}
                {untracked > 0 && <span class="cell-note">{untracked} not counted</span>}
              </>
            ),
          },
          {
            title: 'Clicked',
            is_number: true,
            cell: ({ clicked, sent, untracked }) => (
              <>
                {clicked}
                <span class="cell-note">{tellShare(clicked, sent - untracked)}</span>
              </>
            ),
          },
          { title: 'Unsubscribed', is_number: true, cell: ({ unsubscribed }) => unsubscribed },
          {
            title: 'Chance',
            cell: (result) => (
              <>
                {tellChance(result)}
                {status === 'testing' && (
                  <div>
                    <ActionButton is_small act={() => choose(result.name)}>
                      Send {result.name} to the rest
                    </ActionButton>
                  </div>
                )}
              </>
            ),
          },
        ]}
      />
      <p class="table-foot">{tellBest(ab.results)}</p>
    </Panel>
  );
}

function tellStanding(ab: AbTest, status: string) {
  if (ab.winner !== null) {
    return (
      <>
        {ab.winner} was chosen <Time at={ab.decided_at} />: the rest gets it.
      </>
    );
  }
  if (ab.decides_at !== null && status === 'testing') {
    return (
      <>
        {ab.share}% of the people try them. The clicks decide <Time at={ab.decides_at} />, or you before that.
      </>
    );
  }
  return `${ab.share}% of the people try them; ${ab.decide_by === 'manual' ? 'then you choose' : 'then the clicks decide'}.`;
}

function tellChance({ chance_best }: Result): string {
  return `${Math.round(chance_best * 100)}% to be the best`;
}

/** "B is better with 95%", once a click is known. */
function tellBest(results: readonly Result[]): string {
  const clicked = results.reduce((sum, each) => sum + each.clicked, 0);
  const [best] = results.toSorted((a, b) => b.chance_best - a.chance_best);
  if (!best || clicked === 0) return 'Nobody has clicked yet: nothing tells them apart.';
  const percent = Math.round(best.chance_best * 100);
  return best.chance_best >= SURE
    ? `${best.name} is better with ${percent}%, by ${counted(clicked, 'person')} who clicked.`
    : `${best.name} is ahead with ${percent}%: the difference may still be chance.`;
}
