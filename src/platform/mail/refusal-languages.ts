/**
 * Wordings of refusals in the languages in which large receivers write besides English, by whom they are
 * about. Letters stand without their marks, as `plain` of refusal-words.ts leaves them, and most servers
 * write them so anyway.
 *
 * Sources: the real replies that the bounce parsers Sisimai, BounceHammer and node-bounce-handler keep, and
 * the words for user, recipient, mailbox, full and blocked in the messages of Postfix, Zimbra, Exchange and
 * cPanel in these languages.
 */

/** Of the sender. */
export const OF_SENDER = [
  /\b(?:emetteur|expediteur)s?\b/i, // French
  /\babsender/i, // German
  /\bmittente\b/i, // Italian
  /\bremitentes?\b|\bremetentes?\b/i, // Spanish, Portuguese
  /\b(?:afzender|afsender\w*|avsandare\w*|avsender\w*)\b/i, // Dutch, Danish, Swedish, Norwegian
  /\bnadawc\w*|\bodesilatel\w*|\bodosielatel\w*/i, // Polish, Czech, Slovak
  /\bfelado\w*|\bgonderen\w*|\bexpeditor\w*/i, // Hungarian, Turkish, Romanian
  /отправител|відправник/i, // Russian, Ukrainian
  /送信者|送信元|发件人|發件人|寄件者|발신자|보낸 ?사람/, // Japanese, Chinese, Korean
];

/** The recipient's mailbox is full. */
export const OF_FULL_MAILBOX = [
  /\bboite\b.{0,40}\b(?:pleine|saturee)\b|\bquota\b.{0,20}\b(?:depasse|atteint)/i,
  /\b(?:postfach|mailbox|speicher(?:platz)?|quota|kontingent)\b.{0,40}\b(?:voll|uberfullt|erschopft|uberschritten|ausgeschopft)\b|\bzu ?viele (?:e-?)?mails\b/i,
  /\bcasella\b.{0,40}\bpiena\b|\bspazio\b.{0,30}\besaurit\w*|\bquota\b.{0,20}\bsuperat\w*/i,
  /\b(?:buzon|casilla)\b.{0,40}\b(?:llen[oa]|sin espacio)\b|\bcuota\b.{0,30}\b(?:excedid|superad)\w*/i,
  /\bcaixa\b.{0,40}\b(?:cheia|lotada)\b|\b(?:cota|quota)\b.{0,30}\b(?:excedid|ultrapassad)\w*/i,
  /\b(?:mailbox|postbus|postvak)\b.{0,20}\bvol\b|\bquotum\b.{0,20}\b(?:overschreden|bereikt)\b/i,
  /\b(?:brevlada\w*|postkass?e\w*|inkorg\w*|indbakke\w*|innboks\w*)\b.{0,20}\b(?:full|fuld|fylt)\w*/i,
  /\bskrzynk\w*.{0,40}\b(?:peln|przepelnion|zapelnion)\w*|\bschrank\w*.{0,30}\b(?:pln|preplnen|zaplnen)\w*/i,
  /(?:ящик|скриньк).{0,40}(?:переполн|полон|заполн)|превышен.{0,30}(?:квот|размер (?:почтов|ящик))/i,
  /(?:メールボックス|受信箱|容量).{0,12}(?:いっぱい|一杯|超え|超過|不足|満杯)/,
  /(?:邮箱|信箱|收件箱|郵箱).{0,10}(?:已满|已滿|空间不足|空間不足|容量|配额|配額)/,
  /(?:메일함|사서함|용량).{0,10}(?:가득|초과|부족)/,
];

/** Words for a recipient, and for one that is unknown or closed, in either order, in languages of a kind. */
const behind = (who: string, ended: string): RegExp =>
  new RegExp(`\\b(?:${who})\\b[^.;]{0,60}?\\b(?:${ended})`, 'i');

/** The recipient is unknown or closed. */
export const OF_RECIPIENT = [
  // French
  behind(
    'destinataires?|utilisateurs?|adresses?|comptes?|boites?',
    "inconnue?s?|invalides?|inexistante?s?|introuvables?|n'existe|n existe|desactivee?s?|fermee?s?|archivee?s?",
  ),
  // German
  behind(
    'empfanger\\w*|benutzer\\w*|nutzer|adressat|adresse|e?mail-?adresse|postfach|konto|mailbox|teilnehmer',
    'unbekannt|ungultig|existiert nicht|nicht (?:gefunden|vorhanden|bekannt|existent)|deaktiviert|geschlossen|geloscht',
  ),
  /\b(?:unbekannte|ungultige|kein)\w*\W+(?:\w+\W+)?(?:empfanger|benutzer|nutzer|adressat|adresse|postfach|konto|teilnehmer)/i,
  // Italian
  behind(
    'utente|destinatario|destin|indirizzo|casella|account|mailbox|dominio',
    'sconosciut\\w*|inesistente|errat\\w*|non (?:esiste|valid\\w*|trovat\\w*|attiv\\w*|abilitat\\w*)|disat+ivat\\w*|disabilitat\\w*|scadut\\w*',
  ),
  /\bnessun utente\b|\bdestin\. sconosciut|\bbloccat\w+ per inutilizzo\b/i,
  // Spanish and Portuguese
  behind(
    'usuario|destinatario|cuenta|conta|buzon|casilla|caixa(?: postal| de correio)?|direccion|endereco|correo',
    'desconocid\\w*|desconhecid\\w*|inexistente|inval?id\\w*|(?:no|nao) (?:existe|valid\\w*|encontrad\\w*|es valid\\w*)|inactiv\\w*|inativ\\w*|des(?:h)?abilitad\\w*|desativad\\w*|desactivad\\w*|cancelad\\w*|cerrad\\w*|encerrad\\w*',
  ),
  /\b(?:no|nao) existe\b(?! (?:el |o |um |un )?(?:dominio|registro|ptr|host))/i,
  // Dutch
  behind(
    'gebruiker|ontvanger|geadresseerde|adres|mailbox|postbus|postvak',
    'onbekend|ongeldig|bestaat niet|niet (?:gevonden|bekend|geldig)|opgeheven|gesloten',
  ),
  /\bonbekende (?:gebruiker|ontvanger|geadresseerde)\b/i,
  // Swedish, Danish, Norwegian, Finnish
  behind(
    'anvandare\\w*|mottagare\\w*|bruger\\w*|modtager\\w*|bruker\\w*|mottaker\\w*|adress\\w*|konto\\w*|postkass?e\\w*',
    '(?:finn[es]*|existerar|eksisterer) (?:inte|ikke|ej)|okand|ukendt|ukjent|ogiltig|ugyldig|avslutat|lukket',
  ),
  /\b(?:okand|ukendt|ukjent|ogiltig|ugyldig) (?:mottaga?re|modtager|mottaker|anvandare|bruger|bruker|adress)/i,
  /\btuntematon (?:kayttaja|vastaanottaja)|\b(?:kayttajaa|vastaanottajaa) ei\b/i,
  // Polish, Czech, Slovak
  /\bnie (?:istnieje|ma takiego|znaleziono)|\b(?:nieznany|brak) (?:uzytkownik|odbiorc|adresat|kont)\w*/i,
  behind(
    'kont\\w*|skrzynk\\w*|uzytkownik\\w*|odbiorc\\w*|adresat\\w*',
    'niezna\\w*|nieaktywn\\w*|zamknie\\w*|usunie\\w*|wylaczon\\w*',
  ),
  /\bneexistuj\w*|\bnezna?m[yae]\w* (?:uzivatel|prijemc|adresat|prijimatel)\w*/i,
  behind(
    'uzivatel\\w*|schrank\\w*|adresat\\w*|prijemc\\w*|ucet',
    'nenalezen\\w*|neznam\\w*|zrusen\\w*|neaktivn\\w*',
  ),
  // Hungarian, Romanian, Turkish
  /\bismeretlen (?:felhasznalo|cimzett)|\bnincs ilyen\b|\b(?:felhasznalo|postafiok|cimzett)\b.{0,40}\bnem (?:letezik|talalhato)/i,
  behind(
    'utilizator\\w*|destinatar\\w*|adresa|cutia',
    'necunoscut\\w*|inexistent\\w*|nu exista|dezactivat\\w*',
  ),
  behind(
    'kullanici\\w*|alici\\w*|adres\\w*|hesap|hesabi|posta kutusu',
    'bulunamadi|bulunmuyor|gecersiz|mevcut degil|bilinmiyor|kapali',
  ),
  // Russian, Ukrainian, Greek
  /(?:пользовател|получател|адресат|ящик|аккаунт|учетн|адрес|користувач|одержувач|скриньк)[^.;]{0,60}(?:не (?:наиден|существу|зарегистр|знаид|існу)|неизвест|невідом|удален|отключен|заблокирован за неактивность)/i,
  /нет такого (?:пользовател|адрес|ящик)|несуществующ|такого користувача/i,
  /αγνωστος|δεν υπαρχει/i,
  // Japanese, Chinese, Korean
  /(?:宛先|ユーザー?|アドレス|受信者|メールボックス|アカウント)[^。]{0,16}(?:存在しません|存在しない|見つかりません|不明|ありません|無効)/,
  /(?:用户|用戶|收件人|邮箱|郵箱|信箱|帐号|账号|帳號|使用者|地址)[^。]{0,10}(?:不存在|未找到|找不到|无效|無效|已停用|被禁用|已注销|已註銷|不正确)/,
  /(?:사용자|수신자|받는 ?사람|계정|메일함|주소)[^.]{0,12}(?:존재하지|찾을 수 없|알 수 없|없습니다|없음|휴면)/,
];

/** It is about us. */
export const OF_US = [
  /\bbloquee?s?\b|\bliste noire\b|\bnon autorise|\binterdit|\brefusee?s?\b|\brejetee?s?\b|\bindesirable/i,
  /\b(?:blockiert|gesperrt|abgelehnt|abgewiesen|verweigert|zuruckgewiesen)\b|\bnicht (?:erlaubt|autorisiert|gestattet)\b|\bsperrliste\b/i,
  /\b(?:bloccat|rifiutat|respint|negat)[oaie]\b|\bnon (?:autorizzat|consentit)\w*|\blista nera\b/i,
  /\b(?:bloquead|rechazad|denegad|rejeitad|recusad|negad)[oa]s?\b|\b(?:no|nao) (?:autori[zs]ad|permitid)\w*|\blista negra\b/i,
  /\b(?:geblokkeerd|geweigerd|afgewezen)\b|\bniet toegestaan\b|\b(?:blockerad|blokeret|blokkert|nekad|avvisad|afvist|avvist)\w*/i,
  /\b(?:zablokowan|odrzucon|niedozwolon)\w*|\bczarn\w+ list|\b(?:zablokovan|zamitnut|odmitnut|odmietnut)\w*/i,
  /\b(?:engellen|reddedil|blocat|respins|elutasit|letiltv)\w*/i,
  /заблокирован|отклонен|запрещен|отказано|спам|черн\S+ списк|заблоковано|відхилено/i,
  /拒否|ブロック|迷惑メール|拒绝|拒絕|屏蔽|垃圾|黑名单|黑名單|차단|거부|스팸/,
];
