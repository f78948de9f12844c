/** The present day beside what is usual, and how mail does: what home pages open with. */
import type { Activity } from '../../api.generated.ts';
import { Panel } from '../../components/page.tsx';
import { type TileProps, Tiles } from '../../components/tiles.tsx';
import { serverNow } from '../../time.ts';

type Home = Pick<Activity, 'today' | 'usual' | 'rates'>;
type Numbers = Home['today'];

const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'long', timeZone: 'UTC' });
const number = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const share = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 });

const came_back = ({ failed, bounced, complained }: Numbers): number => failed + bounced + complained;

/** `links`: where each number has its list. */
export function Today(props: { of: Home; links?: { mails: string; failed: string; files: string } }) {
  const { of, links } = props;
  const tile = (label: string, count: (numbers: Numbers) => number, href?: string): TileProps => ({
    label,
    value: count(of.today),
    ...(href && { href }),
    note:
      of.usual === null
        ? 'so far'
        : `usually ${number.format(count(of.usual))} on a ${weekday.format(serverNow())}`,
  });
  return (
    <Panel flush>
      <Tiles
        of={[
          tile('Mails sent today', ({ sent }) => sent, links?.mails),
          tile('Failed or came back', came_back, links?.failed),
          tile('Clicked', ({ clicked }) => clicked, links?.mails),
          tile('Files uploaded', ({ uploads }) => uploads, links?.files),
        ]}
      />
    </Panel>
  );
}

/** From which share on a rate is to be looked at, and from which it harms: Gmail and Yahoo ask for complaints below 0.3 %. */
const ROWS = [
  { rate: 'bounced', label: 'Came back', warn: 0.02, bad: 0.05 },
  { rate: 'complained', label: 'Called spam', warn: 0.001, bad: 0.003 },
  { rate: 'clicked', label: 'Clicked', warn: 2, bad: 2 },
] as const;

/** Nothing where nothing was sent. */
export function HowMailDoes({ rates: { d7, d30 } }: Pick<Home, 'rates'>) {
  if (d30 === null) return null;
  return (
    <Panel title="How mail does" lead="As a share of what was sent." flush>
      <table aria-label="How mail does">
        <thead>
          <tr>
            <th scope="col">
              <span class="hidden">What</span>
            </th>
            <th scope="col" class="number">
              7 days
            </th>
            <th scope="col" class="number">
              30 days
            </th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map(({ rate, label, warn, bad }) => (
            <tr key={rate}>
              <th scope="row">{label}</th>
              {[d7, d30].map((of, index) => {
                const value = of?.[rate];
                const tone = value === undefined || value < warn ? '' : value < bad ? 'warn' : 'bad';
                return (
                  <td key={index === 0 ? 7 : 30} class="number">
                    <span class={tone && `badge ${tone}`}>
                      {value === undefined ? '—' : share.format(value)}
                    </span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
