/** What kinds of templates there are. The types say so where the API gets another one. */
import type { NewTemplate } from '../../api.generated.ts';

export type Category = NewTemplate['category'];

const TITLES: Readonly<Record<Category, string>> = {
  transactional: 'Transactional',
  marketing: 'Marketing',
  welcome: 'Welcome',
  opt_in: 'Opt-in',
  notification: 'Notification',
  receipt: 'Receipt',
  other: 'Other',
};

export const CATEGORIES = Object.keys(TITLES);

export const CATEGORY_CHOICES = Object.entries(TITLES);

/** The category of that name; the first one where there is none. */
export function readCategory(name: string): Category {
  return Object.hasOwn(TITLES, name) ? (name as Category) : 'transactional';
}
