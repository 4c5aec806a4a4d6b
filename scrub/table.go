package scrub

// ourRules is what gitleaks misses, as data: a row is a rule. Expressions of
// shape token see a token and may end where it ends. The order ranks them.
//
// Prefixes are from the vendors' own documentation of their key formats.
func ourRules() []*rule {
	kw := func(words ...string) []string { return words }
	return []*rule{
		{id: "private-key", keywords: kw("private key"), find: findPEM},
		{id: "putty-private-key", keywords: kw("private-lines:"), find: findPuTTY},
		{id: "url-password", keywords: kw("://"), find: findURLPassword},
		{id: "basic-auth", keywords: kw("basic"), find: findBasic},

		{id: "anthropic-key", keywords: kw("sk-ant-"), expr: `\bsk-ant-[a-z0-9]{2,12}-[\w-]{20,}`},
		{id: "openai-key", keywords: kw("sk-proj-", "sk-svcacct-", "sk-admin-"), expr: `\bsk-(?:proj|svcacct|admin)-[\w-]{20,}`},
		{id: "openrouter-key", keywords: kw("sk-or-"), expr: `\bsk-or-(?:v\d-)?[0-9a-f]{32,}`},
		{id: "langfuse-key", keywords: kw("sk-lf-"), expr: `\bsk-lf-[0-9a-f-]{36}`},
		{id: "model-key", keywords: kw("sk-"), expr: `\bsk-[A-Za-z0-9]{32,64}\b`, entropy: 3.2},
		{id: "langsmith-key", keywords: kw("lsv2_"), expr: `\blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`},
		{id: "groq-key", keywords: kw("gsk_"), expr: `\bgsk_[A-Za-z0-9]{40,}`, entropy: 3},
		{id: "xai-key", keywords: kw("xai-"), expr: `\bxai-[A-Za-z0-9]{60,}`, entropy: 3},
		{id: "huggingface-key", keywords: kw("hf_"), expr: `\bhf_[A-Za-z0-9]{34}\b`, entropy: 3},
		{id: "replicate-key", keywords: kw("r8_"), expr: `\br8_[A-Za-z0-9]{37}`, entropy: 3},
		{id: "perplexity-key", keywords: kw("pplx-"), expr: `\bpplx-[A-Za-z0-9]{40,}`, entropy: 3},
		{id: "pinecone-key", keywords: kw("pcsk_"), expr: `\bpcsk_[\w]{50,}`, entropy: 3},
		{id: "tavily-key", keywords: kw("tvly-"), expr: `\btvly-[\w-]{28,}`, entropy: 3},
		{id: "firecrawl-key", keywords: kw("fc-"), expr: `\bfc-[0-9a-f]{32}\b`, entropy: 3},
		{id: "e2b-key", keywords: kw("e2b_"), expr: `\be2b_[0-9a-f]{40}`},

		{id: "github-token", keywords: kw("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), expr: `\bgh[pousr]_[A-Za-z0-9_.-]{36,}`, entropy: 3},
		{id: "github-pat", keywords: kw("github_pat_"), expr: `\bgithub_pat_\w{40,}`, entropy: 3},
		{id: "npm-token", keywords: kw("npm_"), expr: `\bnpm_[A-Za-z0-9]{36}`, entropy: 3},
		{id: "docker-pat", keywords: kw("dckr_"), expr: `\bdckr_(?:pat|oat)_[\w-]{27,}`, entropy: 3},
		{id: "crates-token", keywords: kw("cio"), expr: `\bcio[A-Za-z0-9]{32}\b`, entropy: 3.5},
		{id: "stripe-webhook", keywords: kw("whsec_"), expr: `\bwhsec_[A-Za-z0-9+/=]{24,}`, entropy: 3},
		{id: "google-oauth", keywords: kw("ya29."), expr: `\bya29\.[\w-]{20,}`, entropy: 3},
		{id: "google-client-secret", keywords: kw("gocspx-"), expr: `\bGOCSPX-[\w-]{20,}`, entropy: 3},
		{id: "google-refresh-token", keywords: kw("1//0"), expr: `\b1//0[\w-]{40,}`, entropy: 3.5},
		{id: "google-api-key", keywords: kw("aiza"), expr: `\bAIza[\w-]{35}`, entropy: 3},
		{id: "aws-session-token", keywords: kw("iqojb3jpz2lux2vj"), expr: `\bIQoJb3JpZ2luX2Vj[A-Za-z0-9+/=]{100,}`},
		{id: "databricks-token", keywords: kw("dapi"), expr: `\bdapi[0-9a-f]{32}(?:-\d)?\b`, entropy: 3},
		{id: "tailscale-key", keywords: kw("tskey-"), expr: `\btskey-[a-z]+-[A-Za-z0-9]+(?:-[A-Za-z0-9]+)?`, entropy: 3},
		{id: "vercel-token", keywords: kw("vcp_", "vci_", "vca_", "vcr_", "vck_"), expr: `\bvc[piark]_[A-Za-z0-9]{24,}`, entropy: 3},
		{id: "netlify-token", keywords: kw("nfp_", "nfc_"), expr: `\bnf[pc]_[A-Za-z0-9]{36,}`, entropy: 3},
		{id: "render-key", keywords: kw("rnd_"), expr: `\brnd_[A-Za-z0-9]{28,}`, entropy: 3.5},
		{id: "supabase-key", keywords: kw("sbp_", "sb_secret_"), expr: `\b(?:sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})`, entropy: 3},
		{id: "linear-key", keywords: kw("lin_api_", "lin_oauth_"), expr: `\blin_(?:api|oauth)_[A-Za-z0-9]{40,}`, entropy: 3},
		{id: "notion-token", keywords: kw("ntn_"), expr: `\bntn_[A-Za-z0-9]{40,}`, entropy: 3},
		{id: "figma-token", keywords: kw("figd_"), expr: `\bfigd_[\w-]{36,}`, entropy: 3},
		{id: "posthog-key", keywords: kw("phx_"), expr: `\bphx_[A-Za-z0-9]{40,}`, entropy: 3},
		{id: "resend-key", keywords: kw("re_"), expr: `\bre_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}`, entropy: 3.5},
		{id: "airtable-token", keywords: kw("pat"), expr: `\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}`},
		{id: "telegram-bot-token", keywords: kw(":aa"), expr: `\b\d{8,10}:AA[\w-]{33}\b`, entropy: 3},
		{id: "discord-bot-token", keywords: kw("discord"), expr: `\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}\b`, shape: near, entropy: 4},
		{id: "discord-webhook", keywords: kw("api/webhooks/"), expr: `discord(?:app)?\.com/api/webhooks/\d{5,30}/([\w-]{60,})`},
		{id: "slack-token", keywords: kw("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe"), expr: `\bxox[abcdeprs](?:\.xox[bp])?-[A-Za-z0-9%+/=-]{20,}`, entropy: 2.5},
		{id: "azure-account-key", keywords: kw("accountkey=", "sharedaccesskey="), expr: `(?i)(?:account|sharedaccess)key=([A-Za-z0-9+/]{40,}={0,2})`},
		{id: "azure-signature", keywords: kw("sig="), expr: `[?&;]sig=([A-Za-z0-9%+/]{40,}={0,2})`, shape: near, entropy: 3.5},
		{id: "npm-auth", keywords: kw("_authtoken", "_auth=", "_password="), expr: `:?_(?:authToken|auth|password)\s*=\s*"?([A-Za-z0-9+/=_.-]{16,})`, shape: near, entropy: 3},

		{id: "curl-user", keywords: kw("-u", "--user"), find: findCurlUser},
		{id: "header-flag", keywords: kw("-h ", "--header"), find: findHeaderFlag},
		{id: "bearer-token", keywords: kw("bearer"), find: findBearer},
		{id: "authorization", keywords: kw("authorization"), find: findAuthorization},
		{id: "cookie", keywords: kw("cookie:"), find: findCookie},
		{id: "password", keywords: kw("passw", "passphrase", "pass", "pwd", "secret"), find: findPassword},
	}
}
