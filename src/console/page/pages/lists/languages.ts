/** The languages of public pages, each in its own words. */
import type { ContactList } from '../../api.generated.ts';

export type Language = NonNullable<ContactList['language']>;

export const LANGUAGES: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
};
