/** Mail by hour or day: drawn once there is a line to draw, told in words before. */
import { Chart, type Series } from '../../components/chart.tsx';
import { Empty, Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Choice } from '../../components/tabs.tsx';
import { setQuery, useQuery } from '../../router.ts';

interface MailMoment {
  /** ISO 8601: an hour, or a day of UTC. */
  at: string;
  sent: number;
  /** Failed, bounced or complained about. */
  amiss: number;
  clicked?: number;
}

/** Fewer points than these are a spike. */
const LINE_POINTS = 3;

const hour = new Intl.DateTimeFormat('en-GB', { weekday: 'long', hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  timeZone: 'UTC',
});

export function MailOverTime(props: { unit: 'hour' | 'day'; of: readonly MailMoment[]; without?: string }) {
  const { unit, of, without } = props;
  const busy = of.filter(({ sent, amiss, clicked = 0 }) => sent + amiss + clicked > 0);
  const sum = (count: (moment: MailMoment) => number): number => of.reduce((n, each) => n + count(each), 0);
  const lead =
    busy.length === 0
      ? undefined
      : `${counted(
          sum(({ sent }) => sent),
          'mail',
        )} sent and ${sum(({ amiss }) => amiss)} failed, bounced or complained about in ${counted(of.length, unit)}.`;
  return (
    <Panel
      title={`Mail by ${unit}`}
      lead={lead}
      actions={<RangeChoice {...(without !== undefined && { without })} />}
    >
      {busy.length === 0 && (
        <Empty drawing="chart" title={`No mail in these ${unit}s`}>
          <p>
            What your apps send, and what comes back, is drawn here {unit} by {unit}.
          </p>
        </Empty>
      )}
      {busy.length > 0 && busy.length < LINE_POINTS && (
        <ul class="plain-list">
          {busy.map((moment) => (
            <li key={moment.at}>
              {(unit === 'day' ? day : hour).format(Date.parse(moment.at))}: {tell(moment)}
            </li>
          ))}
        </ul>
      )}
      {busy.length >= LINE_POINTS && (
        <Chart label={`Mails by ${unit}`} unit={unit} at={of.map(({ at }) => at)} of={seriesOf(of)} />
      )}
    </Panel>
  );
}

function tell({ sent, amiss, clicked }: MailMoment): string {
  return [
    `${sent} sent`,
    ...(clicked ? [`${clicked} clicked`] : []),
    ...(amiss > 0 ? [`${amiss} failed or came back`] : []),
  ].join(', ');
}

function seriesOf(of: readonly MailMoment[]): Series[] {
  const clicked = of.flatMap((each) => (each.clicked === undefined ? [] : [each.clicked]));
  return [
    { label: 'Sent', values: of.map(({ sent }) => sent), tone: 'accent' },
    ...(clicked.length === 0 ? [] : [{ label: 'Clicked', values: clicked, tone: 'good' as const }]),
    { label: 'Failed or came back', values: of.map(({ amiss }) => amiss), tone: 'bad' },
  ];
}

const RANGES = [
  ['7', '7 days'],
  ['30', '30 days'],
] as const;

/** Null where the address names none. */
export function useDays(): '7' | '30' | null {
  const asked = useQuery().get('days');
  return RANGES.find(([days]) => days === asked)?.[0] ?? null;
}

/** `without`: the choice of none, where there is that. */
function RangeChoice({ without }: { without?: string }) {
  const now = useDays();
  return (
    <Choice
      label="Of how long"
      choices={without === undefined ? RANGES : [['', without], ...RANGES]}
      now={now ?? (without === undefined ? '7' : '')}
      onChoose={(days) => setQuery({ days })}
    />
  );
}
