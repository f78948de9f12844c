/**
 * What mail programs put before the subject of a note that they write for somebody: `Automatic reply: Hello`. Behind `Re:`, and in a text,
 * the same words are a person's.
 *
 * Sources: Exchange and Outlook in the languages of their mailboxes, since 2010 (`Automatic reply`) and before (`Out of Office AutoReply`,
 * `Abwesend`; MicrosoftDocs, understand-troubleshoot-oof-replies, and the subjects by which FragDenStaat's froide and other readers of mail
 * know them); RFC 5230 (Sieve: `Auto`), which cPanel and Dovecot follow; OpenSRS (`Autoreply`), vacation(1) (`away from my mail`), Zimbra
 * (`Out of Office`), Lotus Notes (`AUTO`), QQ and NetEase (`自动回复`).
 */
const PREFIXES = [
  // English
  'automatic reply|automated reply|automatic response|automated response|auto[- ]?reply|auto[- ]?response|auto[- ]?responder|auto|autore',
  'out of (?:the )?office(?: auto[- ]?reply| reply| notification)?|ooo|oof|away from (?:my mail|the office)|on vacation|vacation(?: reply)?',
  // German, Dutch
  'automatische antwort|automatische r(?:ü|ue)ckantwort|autoantwort|abwesend|abwesenheitsnotiz|abwesenheitsnachricht|abwesenheitsassistent',
  'automatisch antwoord|automatische reactie|afwezig|afwezigheidsbericht|niet aanwezig',
  // French, Spanish, Catalan, Galician, Portuguese, Italian, Romanian
  "r[ée]ponse automatique|message d['’]absence|absence du bureau|absent du bureau|absent",
  'respuesta autom[áa]tica|fuera de (?:la )?oficina|ausente|resposta autom[àáa]tica|fora do escrit[óo]rio|ausência tempor[áa]ria',
  'risposta automatica|fuori sede|fuori ufficio|r[ăa]spuns automat',
  // Swedish, Danish, Norwegian, Finnish, Icelandic
  'autosvar|automatiskt svar|automatisk svar|frånvarande|fraværende|ikke til stede|automaattinen vastaus|poissa|sj[áa]lfvirkt svar',
  // Estonian, Latvian, Lithuanian
  'automaatvastus|automaatne vastus|autom[āa]tisk[āa] atbilde|automatinis atsakymas',
  // Polish, Czech, Slovak, Hungarian, Slovene, Croatian, Bosnian and Serbian
  'automatyczna odpowied[źz]|odpowied[źz] automatyczna|autoodpowied[źz]|nieobecno[śs][ćc]|automatick[áa] odpov[ěe][ďd]',
  'automatikus v[áa]lasz|házon kívül|samodejni odgovor|automatski odgovor|аутоматски одговор',
  // Russian, Ukrainian, Bulgarian, Kazakh, Greek, Turkish, Basque
  'автоматический ответ|автоответ|автоматична відповідь|автовідповідь|автоматичен отговор|автоматты жауап',
  'αυτόματη απάντηση|otomatik yan[ıi]t|ofis d[ıi][şs][ıi]nda|erantzun automatikoa',
  // Arabic, Hebrew, Persian, Hindi, Thai, Vietnamese, Indonesian and Malay
  'رد تلقائي|الرد التلقائي|תשובה אוטומטית|מענה אוטומטי|پاسخ خودکار|स्वचालित उत्तर|(?:การ)?ตอบกลับอัตโนมัติ',
  'trả lời tự động|tự động trả lời|balasan otomatis|balasan automatik|balas automatik',
  // Chinese, Japanese, Korean
  '自动答复|自动回复|自動回覆|自動回復|外出时的自动答复|自動応答|自動返信|不在通知|자동 ?회신|자동 ?응답|부재중(?: 자동 ?회신)?',
].join('|');

/** The whole subject, or its beginning up to a colon, of whatever width. */
const AUTOMATIC = new RegExp(`^(?:${PREFIXES})\\s*(?:[:：]|[.!]?$)`, 'iu');

/** Whether a subject, decoded, is one that a program wrote for somebody. */
export function isAutomaticSubject(subject: string): boolean {
  return AUTOMATIC.test(subject.normalize('NFC').trim());
}
