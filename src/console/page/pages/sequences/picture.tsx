/**
 * A sequence as a picture: tracks side by side as lanes, steps as cards below one another, and lines where a contact goes on in
 * another track. Where it is narrow the lanes stand below one another, and the cards say in words where the lines lead.
 */
import { useRef } from 'preact/hooks';
import { Empty } from '../../components/empty.tsx';
import { Panel } from '../../components/panel.tsx';
import { hrefOf, to } from '../../router.ts';
import type { SequencePartProps } from './part.ts';
import { RouteLines } from './route-lines.tsx';
import { StepCard } from './step-card.tsx';
import { routeOf } from './step-draft.ts';
import { type Track, tracksOf } from './tracks.ts';

export function Picture(props: SequencePartProps) {
  const { path, of } = props;
  const tracks = tracksOf(of.steps);
  const routes = of.steps.flatMap((step) => {
    const track = routeOf(step);
    return track === null || !tracks.some(({ name }) => name === track) ? [] : [{ step: step.key, track }];
  });
  const picture = useRef<HTMLDivElement>(null);
  if (tracks.length === 0)
    return (
      <Panel>
        <Empty drawing="mail" title="No step yet">
          <p>A step is a mail: a marketing template, sent some time after the step before.</p>
          <a
            class="button primary"
            href={hrefOf(to`/projects/${path.project}/sequences/${path.sequence}/edit`)}
          >
            Write the steps
          </a>
        </Empty>
      </Panel>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
    <section class="tracks-wrap" aria-label="Steps" tabIndex={0}>
      <div class={`tracks${routes.length > 0 ? ' has-routes' : ''}`} ref={picture}>
        <RouteLines picture={picture} routes={routes} tracks={tracks.map(({ name }) => name)} />
        {tracks.map((track, index) => (
          <Lane key={track.name} {...props} track={track} is_first={index === 0} comes_from={routes} />
        ))}
      </div>
    </section>
  );
}

function Lane(
  props: SequencePartProps & {
    track: Track;
    is_first: boolean;
    comes_from: readonly { step: string; track: string }[];
  },
) {
  const { track, is_first, comes_from } = props;
  const sources = comes_from.filter((route) => route.track === track.name).map(({ step }) => step);
  const said = is_first
    ? 'Everybody begins here'
    : sources.length > 0
      ? `From ${sources.join(', ')}`
      : 'Nothing leads here';
  return (
    <div class="lane">
      <div class="lane-head" data-lane={track.name}>
        <h2>{track.name}</h2>
        <p class={is_first || sources.length > 0 ? 'muted' : 'wrong'}>{said}</p>
      </div>
      <ol aria-label={`Track ${track.name}`}>
        {track.steps.map((step) => (
          <StepCard key={step.key} path={props.path} of={props.of} step={step} />
        ))}
      </ol>
    </div>
  );
}
