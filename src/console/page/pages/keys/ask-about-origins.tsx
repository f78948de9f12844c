/** What a key that visitors can read needs besides: origins. Without one it is saved only by who has read what that means. */
import { askFirst } from '../../components/ask-first.ts';

interface Asked {
  restricted: boolean;
  allow_no_origin: boolean;
  /** Of its own. */
  origins: number;
  /** Made for pages and apps, whatever was ticked. */
  is_for_pages: boolean;
  /** Of the button that goes on: "Create". */
  act: string;
}

/** Throws Declined. */
export async function askAboutOrigins({ restricted, allow_no_origin, origins, is_for_pages, act }: Asked) {
  if (restricted && origins === 0 && !allow_no_origin)
    await askFirst({
      title: 'Without an origin?',
      submit: `${act} it without an origin`,
      decline: 'Name one first',
      told: <p>The key is refused to every page and app, until you name one that may use it.</p>,
    });
  if (!restricted && is_for_pages)
    await askFirst({
      title: 'From anywhere?',
      submit: `${act} it for anywhere`,
      decline: 'Restrict it',
      tone: 'bad',
      told: (
        <p>
          Every visitor of a page can read the key that stands in it, and could use it from wherever they
          like.
        </p>
      ),
    });
}
