/** The numbers of a broadcast: how far it is, what became of its mails, and who was left out. */

import type { Broadcast } from '../../api.generated.ts';
import { Table } from '../../components/data-table.tsx';
import { Panel } from '../../components/page.tsx';
import { Count, counted, tellShare } from '../../components/quantity.tsx';
import { type TileProps, Tiles } from '../../components/tiles.tsx';
import { Time } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import type { BroadcastPartProps } from './part.tsx';
import { LeftOutFacts } from './recipients.tsx';

export function Totals({ path, of }: BroadcastPartProps) {
  const { stats, track_opens, recipients, left_out } = of;
  const here = `${hrefOf(to`/projects/${path.project}/broadcasts/${path.broadcast}`)}?tab=recipients`;
  const ended = stats.sent + stats.lost;
  const share = (label: string, value: number, whole = stats.sent): TileProps => ({
    label,
    value,
    note: tellShare(value, whole),
  });
  return (
    <>
      <Panel flush>
        {recipients !== null && <Progress of={of} ended={ended} />}
        <Tiles
          of={[
            { label: 'Sent', value: stats.sent, note: tellWaiting(stats), href: here },
            share('Clicked', stats.clicked, stats.sent - stats.untracked),
            ...(stats.untracked > 0 ? [share('Not counted', stats.untracked)] : []),
            ...(stats.replied > 0 ? [share('Answered', stats.replied)] : []),
            ...(track_opens
              ? [
                  share('Opened', stats.opened, stats.sent - stats.untracked),
                  share('Opened by machines', stats.opened_by_machine, stats.sent - stats.untracked),
                ]
              : []),
            share('Bounced', stats.bounced, ended),
            ...(stats.lost > 0 ? [share('Lost', stats.lost, ended)] : []),
            share('Complaints', stats.complained),
            share('Unsubscribed', stats.unsubscribed),
          ]}
        />
      </Panel>
      {left_out.total > 0 && (
        <Panel title="Left out" lead="Who had their turn and got no mail, and why.">
          <LeftOutFacts of={left_out} />
        </Panel>
      )}
    </>
  );
}

function tellWaiting({ waiting, to_come }: BroadcastPartProps['of']['stats']): string {
  const told = [waiting > 0 ? `${waiting} waiting` : '', to_come > 0 ? `${to_come} to come` : ''];
  return told.filter((each) => each !== '').join(', ');
}

const OVER: Readonly<Record<string, string>> = { sent: 'It is out', cancelled: 'Cancelled' };

function Progress({ of, ended }: { of: BroadcastPartProps['of']; ended: number }) {
  const recipients = of.recipients ?? 0;
  const over = OVER[of.status];
  return (
    <div class="panel-body stack-small">
      {over === undefined && (
        <progress
          aria-label="Mails that are done"
          max={Math.max(1, recipients)}
          value={Math.min(ended, recipients)}
        />
      )}
      <p class="muted">
        {over === undefined ? (
          <>
            <Count of={ended} /> of {counted(recipients, 'mail')} {recipients === 1 ? 'is' : 'are'} done;
            begun <Time at={of.started_at} />.
          </>
        ) : (
          <>
            {over} since <Time at={of.finished_at} exact />; begun <Time at={of.started_at} exact />, for{' '}
            {counted(recipients, 'person')}.
          </>
        )}
      </p>
    </div>
  );
}

/** Targets of the links in a broadcast's mail, and how many followed each. */
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
